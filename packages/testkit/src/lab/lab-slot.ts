// Reserves the names and addresses of a lab: those of a numbered slot that no other lab on this machine uses. The slot's
// file records the owner, so that the next lab can remove the remains of a killed process.

import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { geteuid, pid } from 'node:process'
import { isRecordedAlive, type ProcessRecord, recordProcess } from '../engines/process-record.ts'
import { member, textMember } from '../http-json.ts'
import { exitOnTerm } from '../temp-folder.ts'
import { waitUntil } from '../wait-until.ts'
import { removeLabRemains } from './lab-remains.ts'

/** A reserved number for a lab. By the slot's prefix and folder, any process can find all parts of the lab. */
export interface LabSlot {
  readonly number: number
  /** Prefix of names, such as `hf3`: the network namespaces are `hf3-…`, the host's end of the lab's network is `hf3`. */
  readonly prefix: string
  readonly folder: string
}
interface SlotFile {
  readonly owner: ProcessRecord
  readonly folder: string
}

/** Folder of the slot files. It is not in the temporary folder, which may differ between processes. */
const SLOTS = '/run/holdfast-labs'
const HIGHEST = 250
/**
 * Name of an abstract socket, used as a lock: the kernel frees the name when its owner ends for any reason; a lock file
 * would stay.
 */
const LOCK = '\0holdfast-labs'

const held = new Map<number, LabSlot>()

/** Claims a slot until releaseSlot() is called or this process exits. Also removes the labs of dead processes. */
export function claimSlot(): Promise<LabSlot> {
  if (geteuid?.() !== 0) throw new Error('a lab creates network namespaces and starts Docker: run as root')
  watchExit()
  return withLock(() => {
    mkdirSync(SLOTS, { recursive: true })
    removeAbandoned()
    for (let number = 1; number <= HIGHEST; number += 1) {
      if (!existsSync(slotFile(number))) return hold(number)
    }
    throw new Error(`all ${HIGHEST} lab slots are in use: see ${SLOTS}`)
  })
}

/** Ends and removes the lab in the slot, and releases the slot. */
export function releaseSlot(slot: LabSlot): void {
  // The slot was already released, and its number may belong to another lab now.
  if (held.get(slot.number) !== slot) return
  removeLabRemains(slot)
  rmSync(slotFile(slot.number), { force: true })
  held.delete(slot.number)
}

const slotFile = (number: number): string => join(SLOTS, `${number}.json`)
const prefixOf = (number: number): string => `hf${number}`

function hold(number: number): LabSlot {
  const folder = mkdtempSync(join(tmpdir(), `holdfast-lab${number}-`))
  const record: SlotFile = { owner: recordProcess(pid), folder }
  writeFileSync(slotFile(number), JSON.stringify(record))
  const slot = { number, prefix: prefixOf(number), folder }
  held.set(number, slot)
  return slot
}

function removeAbandoned(): void {
  for (const name of readdirSync(SLOTS)) {
    const number = Number.parseInt(name, 10)
    if (Number.isNaN(number)) continue
    const record = readSlotFile(join(SLOTS, name))
    if (record !== undefined && isRecordedAlive(record.owner)) continue
    removeLabRemains({ number, prefix: prefixOf(number), folder: record?.folder })
    rmSync(join(SLOTS, name), { force: true })
  }
}

/** Reads a slot file. Undefined if the owner died while it wrote the file, before it started anything. */
function readSlotFile(file: string): SlotFile | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    const owner = member(value, 'owner')
    const record = { pid: Number(member(owner, 'pid')), startTicks: textMember(owner, 'startTicks') }
    return { owner: record, folder: textMember(value, 'folder') }
  } catch {
    return undefined
  }
}

async function withLock<T>(action: () => T): Promise<T> {
  const lock = await waitUntil(takeLock, { what: 'no other process claims a lab', timeoutMs: 60_000 })
  try {
    return action()
  } finally {
    await new Promise((resolve) => lock.close(resolve))
  }
}

function takeLock(): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(undefined))
    server.listen(LOCK, () => resolve(server))
  })
}

let watching = false
function watchExit(): void {
  if (watching) return
  watching = true
  exitOnTerm()
  process.once('exit', () => {
    for (const slot of held.values()) {
      try {
        releaseSlot(slot)
      } catch {
        // Errors are ignored in this exit handler: the next lab on this machine removes the remains of a dead process.
      }
    }
  })
}

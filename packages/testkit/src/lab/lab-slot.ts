// Which names and addresses may a lab use? Those of a numbered slot that no other lab of this machine holds. The
// slot's file records who holds it, so that the next lab removes what a killed process left behind.

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

/** Everything of the lab is found by these three, also by a process that knows nothing else of it. */
export interface LabSlot {
  readonly number: number
  /** `hf3`: the network namespaces are `hf3-…`, the host's end of the lab's wire is `hf3`. */
  readonly prefix: string
  readonly folder: string
}
interface SlotFile {
  readonly owner: ProcessRecord
  readonly folder: string
}

/** Not in the temporary folder, which may differ from process to process. */
const SLOTS = '/run/holdfast-labs'
const HIGHEST = 250
/** The kernel frees the name with its holder, however that ends; a lock in the file system would stay. */
const LOCK = '\0holdfast-labs'

const held = new Map<number, LabSlot>()

/** A slot of our own until releaseSlot(), at the latest until this process exits. Removes the labs of dead processes. */
export function claimSlot(): Promise<LabSlot> {
  if (geteuid?.() !== 0) throw new Error('A lab makes network namespaces and starts Docker: it needs root.')
  watchExit()
  return withLock(() => {
    mkdirSync(SLOTS, { recursive: true })
    removeAbandoned()
    for (let number = 1; number <= HIGHEST; number += 1) {
      if (!existsSync(slotFile(number))) return hold(number)
    }
    throw new Error(`All ${HIGHEST} slots for labs are taken: see ${SLOTS}.`)
  })
}

/** Ends whatever runs in the slot, removes all of it, and gives the slot back. */
export function releaseSlot(slot: LabSlot): void {
  // Given back before: the number may be another lab's by now.
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

/** Undefined where a process died while it wrote the file: it had started nothing yet. */
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
        // The next lab of this machine removes it: our process is gone by then.
      }
    }
  })
}

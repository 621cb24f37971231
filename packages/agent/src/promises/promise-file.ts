// The durable part of promises: votes, configurations and requested nodes of all volumes, and the number of this boot. One
// small file, which is replaced only when one of them changes. See docs/design/promises.md

import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  boolean,
  branded,
  decodeOpen,
  type Infer,
  integer,
  list,
  object,
  oneOf,
  optional,
  string,
  type VolumeId,
} from '@holdfast/contract'
import type { SavedRole } from '@holdfast/core/promotion/node/follow-volume'
import type { Logger } from 'pino'
import { readIfExists, writeDurably } from '../state/durable-file.ts'

const FILE = 'promises.json'
const VERSION = 1

const entryShape = object({
  volume: branded<VolumeId>(),
  role: oneOf(['copy', 'primary']),
  epoch: integer(),
  cv: integer(),
  prepared: optional(boolean()),
  copies: optional(list(string())),
  configured: optional(list(string())),
  asked: optional(list(string())),
  unsent: optional(list(string())),
  isConfirmed: optional(boolean()),
  handover: optional(object({ to: string(), cv: integer() })),
})
type Entry = Infer<typeof entryShape>

const fileShape = object({
  v: integer(),
  /** The owner: a machine that is enrolled again promises nothing of its former life. */
  nodeId: string(),
  boot: object({ id: string(), number: integer() }),
  volumes: list(entryShape),
  /** An earlier file was unreadable: this node may have promises and votes for volumes that are not listed. */
  isForgetful: optional(boolean()),
})
type SavedPromises = Infer<typeof fileShape>

export interface PromiseFile {
  /** The number of this boot of the machine. */
  readonly boot: number
  /** The roles as the last start of the agent left them. */
  readonly saved: ReadonlyMap<VolumeId, SavedRole>
  /** Whether this node may have promises and votes for volumes that are not in `saved`. */
  readonly isForgetful: boolean
  /** Whether the number of this boot is on disk. Until then no stamp may name it, and nothing is promised. */
  isWritten(): boolean
  /** Replaces all roles; they and the number of the boot are on disk when it resolves. */
  write(roles: ReadonlyMap<VolumeId, SavedRole>, isForgetful: boolean): Promise<void>
}

interface PromiseFileDeps {
  /** The folder of the agent's state. */
  readonly folder: string
  readonly nodeId: string
  /** Of the machine's current boot. */
  readonly bootId: string
  /** Number of this start of the agent. */
  readonly start: number
  readonly log: Logger
}

/**
 * An unreadable file is not an empty one: a vote that is forgotten can lead to two writers. A file that cannot be written
 * does not keep the agent from starting: the number of the boot is written by the first write that succeeds.
 */
export async function openPromiseFile({
  folder,
  nodeId,
  bootId,
  start,
  log,
}: PromiseFileDeps): Promise<PromiseFile> {
  const path = join(folder, FILE)
  const before = await readPromises(path, log)
  // Every boot began with a start of the agent, so no earlier boot has this number.
  const boot = before === 'unreadable' ? { id: bootId, number: start } : nextBoot(before, bootId)
  const own = before !== 'unreadable' && before?.nodeId === nodeId ? before : undefined
  const saved = new Map(own?.volumes.map((entry) => [entry.volume, roleOf(entry)]))
  const isForgetful = before === 'unreadable' || own?.isForgetful === true
  // A file that already has this boot needs no write before the agent can promise.
  let isWritten = before !== 'unreadable' && before?.nodeId === nodeId && before.boot.id === bootId
  let isFailed = false
  const write: PromiseFile['write'] = async (roles, isStillForgetful) => {
    const volumes = [...roles].map(([volume, role]) => ({ volume, ...role }))
    const text = JSON.stringify({
      v: VERSION,
      nodeId,
      boot,
      volumes,
      ...(isStillForgetful && { isForgetful: true }),
    })
    await writeDurably(path, `${text}\n`)
    if (isFailed) log.info({ path }, 'promises written')
    isFailed = false
    isWritten = true
  }
  // The number of a boot is on disk before a stamp names it.
  if (!isWritten)
    await write(saved, isForgetful).catch((error: unknown) => {
      isFailed = true
      log.error({ path, message: String(error) }, UNWRITTEN)
    })
  return { boot: boot.number, saved, isForgetful, isWritten: () => isWritten, write }
}

const UNWRITTEN =
  'promises cannot be written, volumes with promotable copies wait and this node promises nothing until they can; free space on the disk of the state folder'

function nextBoot(before: SavedPromises | undefined, id: string): SavedPromises['boot'] {
  const known = before?.boot ?? { id: '', number: 0 }
  return { id, number: known.id === id ? known.number : known.number + 1 }
}

function roleOf({ role, epoch, cv, prepared, handover, ...rest }: Entry): SavedRole {
  if (role === 'copy') return { role, epoch, cv, prepared: prepared ?? false }
  const { copies = [], configured = [], asked = [], unsent = [], isConfirmed = false } = rest
  return { role, copies, epoch, cv, configured, asked, unsent, isConfirmed, ...(handover && { handover }) }
}

async function readPromises(path: string, log: Logger): Promise<SavedPromises | 'unreadable' | undefined> {
  try {
    const text = await readIfExists(path)
    if (text === undefined) return undefined
    const read = decodeOpen(fileShape, JSON.parse(text))
    if (read.v !== VERSION) throw new Error(`its version is ${read.v}, and this agent reads ${VERSION}`)
    return read
  } catch (error) {
    const kept = `${path}.unreadable`
    await copyFile(path, kept).catch(() => {})
    log.error(
      { path, kept, message: error instanceof Error ? error.message : String(error) },
      'promises file is unreadable, volumes of this node wait until the server has confirmed their promises; connect this node to the server and check its disk',
    )
    return 'unreadable'
  }
}

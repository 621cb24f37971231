// The durable part of promises: votes, configurations and requested nodes of all volumes, and the number of this boot. One
// small file, which is replaced only when one of them changes. See docs/design/promises.md

import { readFile } from 'node:fs/promises'
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
import { writeDurably } from '../state/durable-file.ts'

const FILE = 'promises.json'

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
})

export interface PromiseFile {
  /** The number of this boot of the machine. */
  readonly boot: number
  /** The roles as the last start of the agent left them. */
  readonly saved: ReadonlyMap<VolumeId, SavedRole>
  /** Replaces all roles; they are on disk when it resolves. */
  write(roles: ReadonlyMap<VolumeId, SavedRole>): Promise<void>
}

/**
 * Rejects if the file cannot be read: a vote that is forgotten can lead to two writers. `bootId`: of the machine's current
 * boot.
 */
export async function openPromiseFile(folder: string, nodeId: string, bootId: string): Promise<PromiseFile> {
  const path = join(folder, FILE)
  const before = await readPromises(path)
  const { id, number } = before?.boot ?? { id: '', number: 0 }
  const boot = { id: bootId, number: id === bootId ? number : number + 1 }
  const isOwn = before?.nodeId === nodeId
  const saved = new Map((isOwn ? before.volumes : []).map((entry) => [entry.volume, roleOf(entry)]))
  const write = (roles: ReadonlyMap<VolumeId, SavedRole>): Promise<void> => {
    const volumes = [...roles].map(([volume, role]) => ({ volume, ...role }))
    return writeDurably(path, `${JSON.stringify({ v: 1, nodeId, boot, volumes })}\n`)
  }
  // The number of a boot is on disk before a stamp names it.
  await write(saved)
  return { boot: boot.number, saved, write }
}

function roleOf({ role, epoch, cv, prepared, handover, ...rest }: Entry): SavedRole {
  if (role === 'copy') return { role, epoch, cv, prepared: prepared ?? false }
  const { copies = [], configured = [], asked = [], unsent = [], isConfirmed = false } = rest
  return { role, copies, epoch, cv, configured, asked, unsent, isConfirmed, ...(handover && { handover }) }
}

async function readPromises(path: string): Promise<Infer<typeof fileShape> | undefined> {
  try {
    return decodeOpen(fileShape, JSON.parse(await readFile(path, 'utf8')))
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw new Error(
      `${path} is unreadable, so this node may have forgotten a vote: ${error instanceof Error ? error.message : error}. Restore the file, or remove it once no volume of this node is being promoted.`,
    )
  }
}

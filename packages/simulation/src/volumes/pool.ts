// The simulated storage pool of a machine. It is the machine's disk: it survives the agent, the power and a new enrollment.

import type { AssignmentId, NodeId, VolumeCheckpoint, VolumeId } from '@holdfast/contract'
import {
  type CopyAction,
  type CopyNote,
  type FoundCopy,
  isSameCheckpoint,
  type OwnCheckpoint,
} from '@holdfast/core/node'
import type { Stamp } from '@holdfast/core/promotion/messages'
import type { SavedRole } from '@holdfast/core/promotion/node/follow-volume'
import type { Lease } from '@holdfast/core/promotion/primary'
import { emptyContent, type WriteLog, type WriteTime, type Written } from './written.ts'

export interface StoredCheckpoint extends OwnCheckpoint {
  readonly content: Written
  /** The checkpoint has everything that was written before this time on the primary's clock. */
  readonly takenAt: Stamp
}

/** Data of an earlier epoch that was set aside. */
export interface Quarantined {
  readonly epoch: number
  readonly content: Written
}

export interface PoolVolume {
  note: CopyNote | undefined
  live: { content: Written; generation: number; limitBytes: number | undefined } | undefined
  /** Whether the live data is mounted. No mount survives the power. */
  isMounted: boolean
  checkpoints: readonly StoredCheckpoint[]
  /** The last number that a checkpoint of the volume got. It is on disk before the checkpoint is. */
  lastNumber: VolumeCheckpoint | undefined
  quarantined: readonly Quarantined[]
}

export interface Pool {
  readonly poolBytes: number
  /** The address at which the agent of the machine exchanges copies. */
  readonly address: string
  readonly volumes: Map<VolumeId, PoolVolume>
  readonly log: WriteLog
  /** The role of the node in the promises of each volume. */
  readonly promises: Map<VolumeId, SavedRole>
  /** The node that promised. */
  promisedAs: NodeId | undefined
  /** The leases of primaries, with the boot in which they were granted. They survive the agent only. */
  readonly leases: Map<VolumeId, { readonly boot: number; readonly lease: Lease }>
  /** The present time, also on the clock of the machine. */
  now(): WriteTime
}

/** The bytes that each volume uses: so few that a simulated pool never fills up. */
export const USED_BYTES = 1024 ** 2

export const newPool = (given: Pick<Pool, 'poolBytes' | 'address' | 'log' | 'now'>): Pool => ({
  ...given,
  volumes: new Map(),
  promises: new Map(),
  leases: new Map(),
  promisedAs: undefined,
})

export const usedBytes = ({ volumes }: Pool): number => volumes.size * USED_BYTES

function volumeIn({ volumes }: Pool, volume: VolumeId): PoolVolume {
  const found = volumes.get(volume) ?? {
    note: undefined,
    live: undefined,
    isMounted: false,
    checkpoints: [],
    lastNumber: undefined,
    quarantined: [],
  }
  volumes.set(volume, found)
  return found
}

export function findCopy({ volumes }: Pool, volume: VolumeId): FoundCopy {
  const { live, isMounted = false, checkpoints = [], note, quarantined = [] } = volumes.get(volume) ?? {}
  const mountPoint = isMounted ? '/simulated' : undefined
  const isQuarantined = quarantined.length > 0
  return { live: live && { limitBytes: live.limitBytes, mountPoint }, checkpoints, note, isQuarantined }
}

export function performIn(pool: Pool, volume: VolumeId, action: CopyAction): void {
  const held = volumeIn(pool, volume)
  switch (action.kind) {
    case 'note':
      held.note = action.note
      break
    case 'provision':
      held.live ??= {
        content: emptyContent(held.note?.content?.epoch ?? 0),
        generation: 1,
        limitBytes: undefined,
      }
      held.live.limitBytes = action.limitBytes
      held.isMounted = true
      break
    case 'restore': {
      const source = held.checkpoints.find((one) => isSameCheckpoint(one, action.from))
      if (source === undefined || held.live !== undefined) throw new Error('nothing can be restored')
      held.live = { content: source.content, generation: source.generation, limitBytes: undefined }
      break
    }
    case 'remove':
      Object.assign(held, { checkpoints: [], lastNumber: undefined, quarantined: [] })
      dropLive(held)
      break
    case 'quarantine':
      if (held.live !== undefined)
        held.quarantined = [...held.quarantined, { epoch: action.epoch, content: held.live.content }]
      dropLive(held)
      break
    case 'retire':
      dropLive(held)
      break
  }
}

function dropLive(held: PoolVolume): void {
  held.live = undefined
  held.isMounted = false
}

/** Writes into the live data of a volume, as a container that has it mounted does. */
export function writeInto(pool: Pool, volume: VolumeId, by: AssignmentId): void {
  const { live, isMounted, note } = pool.volumes.get(volume) ?? {}
  if (live === undefined || isMounted !== true) return
  const where = { epoch: note?.content?.epoch ?? 0, on: pool.address, time: pool.now() }
  live.content = pool.log.write(volume, by, where, live.content)
  live.generation += 1
}

/** Takes a checkpoint of the live data. */
export function takeCheckpoint({ volumes, now }: Pool, volume: VolumeId, at: VolumeCheckpoint): void {
  const held = volumes.get(volume)
  const { boot, clockMs: ms } = now()
  if (held?.live === undefined) return
  const { content, generation } = held.live
  held.lastNumber = at
  held.checkpoints = [
    ...held.checkpoints,
    { ...at, content, generation, origin: 'taken', takenAt: { boot, ms } },
  ]
}

/** Stores a checkpoint of another node. */
export function receiveCheckpoint(pool: Pool, volume: VolumeId, sent: StoredCheckpoint): void {
  const held = volumeIn(pool, volume)
  held.checkpoints = [...held.checkpoints, { ...sent, origin: 'received' }]
}

export function dropCheckpoints(
  { volumes }: Pool,
  volume: VolumeId,
  gone: readonly VolumeCheckpoint[],
): void {
  const held = volumes.get(volume)
  if (held === undefined) return
  held.checkpoints = held.checkpoints.filter((one) => !gone.some((each) => isSameCheckpoint(each, one)))
}

/** Unmounts everything, as the loss of power does. */
export function unmountAll({ volumes }: Pool): void {
  for (const held of volumes.values()) held.isMounted = false
}

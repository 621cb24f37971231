// One round over the primaries of this node: observe the pool once, take the checkpoints that are due, finish handovers,
// and drop checkpoints that no replica needs.

import type { DesiredCopy, NodeId, VolumeCheckpoint, VolumeId } from '@holdfast/contract'
import { completeCheckpoint, isSameCheckpoint, outdatedCheckpoints } from '@holdfast/core/node'
import type { Logger } from 'pino'
import type { PeerStamp } from '../peer/messages.ts'
import type { LiveCopies } from '../ports/live-copies.ts'
import type { VolumePool } from '../ports/volume-pool.ts'
import type { VolumeWriters } from '../ports/volume-writers.ts'
import { createCheckpointNumbers, removeOldNumbers } from './checkpoint-numbers.ts'
import { handoverStep, releaseIfDone, unwrittenVolumes } from './hand-over.ts'
import { type PrimaryVolume, primaryVolumes, targetsOf, wholeCheckpoints } from './primary-volumes.ts'
import type { ReplicaTable } from './replica-table.ts'
import { takeCheckpoints } from './take-checkpoints.ts'

interface RoundDeps {
  pool(): VolumePool | undefined
  copies(): ReadonlyMap<VolumeId, DesiredCopy>
  readonly live: LiveCopies
  readonly writers: VolumeWriters
  readonly table: ReplicaTable
  monotonicMs(): number
  stamp?(): PeerStamp | undefined
  readonly log: Logger
}

export interface ObservedRound {
  /** When the round began: an unchanged volume has everything that was written before. */
  readonly startedMs: number
  readonly stamp: PeerStamp | undefined
  readonly volumes: readonly PrimaryVolume[]
  /** The checkpoints that have everything that was written before the round. */
  readonly complete: ReadonlyMap<VolumeId, VolumeCheckpoint>
}

/** The moment before a checkpoint was taken: on the agent's clock, and as other nodes are sent it. */
export interface TakenAt {
  readonly ms: number
  readonly stamp: PeerStamp | undefined
}

export interface Rounds {
  /** Runs one round; undefined if there is nothing to replicate. */
  run(): Promise<ObservedRound | undefined>
  /** The volumes at the end of the last round. */
  volumes(): readonly PrimaryVolume[]
  /** The newest checkpoint of each of them that every volume of its group has. */
  whole(): ReadonlyMap<VolumeId, VolumeCheckpoint>
  takenAt(volume: VolumeId, checkpoint: VolumeCheckpoint): TakenAt | undefined
}

const keyOf = (volume: VolumeId, { epoch, number }: VolumeCheckpoint): string =>
  `${volume} ${epoch}.${number}`

export function createRounds(deps: RoundDeps): Rounds {
  const { table, live, monotonicMs } = deps
  const numbers = createCheckpointNumbers()
  const takenAt = new Map<string, TakenAt>()
  const moment = (): TakenAt => ({ ms: monotonicMs(), stamp: deps.stamp?.() })
  const tidied = new WeakMap<VolumePool, string>()
  let latest: readonly PrimaryVolume[] = []

  const list = async (pool: VolumePool): Promise<PrimaryVolume[]> =>
    primaryVolumes(deps.copies().values(), await pool.list(), live)
  const whole = (): ReadonlyMap<VolumeId, VolumeCheckpoint> => wholeCheckpoints(latest, deps.writers.groups())
  function forget(): void {
    const targets = [...deps.copies().values()].map((copy) => [copy.volume, targetsOf(copy)] as const)
    table.keepOnly(new Map<VolumeId, readonly NodeId[]>(targets))
    const known = new Set(latest.flatMap(({ volume, facts }) => facts.own.map((one) => keyOf(volume, one))))
    for (const key of takenAt.keys()) if (!known.has(key)) takenAt.delete(key)
  }
  /** Removes the numbers of volumes that are gone, once for each set of desired copies. */
  async function tidy(pool: VolumePool): Promise<void> {
    const desired = new Set<string>(deps.copies().keys())
    const key = [...desired].toSorted().join()
    if (tidied.get(pool) === key) return
    const { volumes, checkpoints } = await pool.list()
    const held = new Set([...volumes, ...checkpoints].map(({ volume }) => volume))
    await removeOldNumbers(pool, (volume) => held.has(volume) || desired.has(volume))
    tidied.set(pool, key)
  }
  return {
    volumes: () => latest,
    whole,
    takenAt: (volume, checkpoint) => takenAt.get(keyOf(volume, checkpoint)),
    async run() {
      const pool = deps.pool()
      latest = pool === undefined ? [] : latest
      forget()
      const copies = [...deps.copies().values()].filter(({ role }) => role === 'primary')
      if (pool === undefined) return undefined
      await tidy(pool)
      if (copies.length === 0) return undefined
      const unwritten = await unwrittenVolumes(deps, copies)
      const { ms: startedMs, stamp } = moment()
      await pool.flush()
      const volumes = await list(pool)
      latest = volumes
      for (const one of volumes) await releaseIfDone(deps, one, unwritten)
      const isTaken = await takeCheckpoints(
        {
          ...deps,
          numbers,
          replicasOf: ({ volume, targets }) => table.factsOf(volume, targets),
          isLast: (one) => handoverStep(deps, one, unwritten).kind === 'take',
          onTaken: (volume, checkpoint) => void takenAt.set(keyOf(volume, checkpoint), moment()),
        },
        pool,
        volumes.filter(({ volume }) => !live.isReleased(volume)),
      )
      if (isTaken) latest = await list(pool)
      await dropOutdated(deps, pool, latest)
      return { startedMs, stamp, volumes, complete: completeCheckpoints(volumes, latest, whole()) }
    },
  }
}

function completeCheckpoints(
  flushed: readonly PrimaryVolume[],
  after: readonly PrimaryVolume[],
  whole: ReadonlyMap<VolumeId, VolumeCheckpoint>,
): ReadonlyMap<VolumeId, VolumeCheckpoint> {
  const found = new Map<VolumeId, VolumeCheckpoint>()
  for (const { volume, facts } of after) {
    const before = flushed.find((one) => one.volume === volume)
    const complete = before && completeCheckpoint(before.facts, facts)
    const ofGroup = whole.get(volume)
    // Volumes without replicas have no checkpoints, and one that its group lacks is not complete.
    if (complete && ofGroup && isSameCheckpoint(complete, ofGroup)) found.set(volume, complete)
  }
  return found
}

async function dropOutdated(
  { table }: RoundDeps,
  pool: VolumePool,
  volumes: readonly PrimaryVolume[],
): Promise<void> {
  const { poolBytes, usedBytes } = await pool.inspect()
  for (const { volume, targets, facts } of volumes) {
    const replicas = table.factsOf(volume, targets)
    for (const old of outdatedCheckpoints(facts, replicas, 1 - usedBytes / poolBytes))
      await pool.removeCheckpoint(volume, old)
  }
}

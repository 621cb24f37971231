// Takes the checkpoints of a round. The volumes that one container writes are taken together while it is frozen, so that
// their checkpoints show one moment.

import type { VolumeCheckpoint, VolumeId } from '@holdfast/contract'
import { needsCheckpoint, type ReplicaFacts } from '@holdfast/core/node'
import type { Logger } from 'pino'
import type { VolumePool } from '../ports/volume-pool.ts'
import type { VolumeWriters } from '../ports/volume-writers.ts'
import type { CheckpointNumbers } from './checkpoint-numbers.ts'
import { groupVolumes, type PrimaryVolume } from './primary-volumes.ts'

export interface TakeDeps {
  readonly writers: Pick<VolumeWriters, 'groups' | 'freeze'>
  readonly numbers: CheckpointNumbers
  replicasOf(one: PrimaryVolume): readonly ReplicaFacts[]
  /** Whether a handover needs a checkpoint now, whatever the replicas do. */
  isLast(one: PrimaryVolume): boolean
  onTaken(volume: VolumeId, checkpoint: VolumeCheckpoint): void
  readonly log: Logger
}

/** Returns whether any checkpoint was taken. A group that fails is tried again in the next round. */
export async function takeCheckpoints(
  deps: TakeDeps,
  pool: VolumePool,
  volumes: readonly PrimaryVolume[],
): Promise<boolean> {
  const due = groupVolumes(volumes, deps.writers.groups()).filter(
    (group) =>
      group.some(deps.isLast) ||
      needsCheckpoint(group.map((one) => ({ facts: one.facts, replicas: deps.replicasOf(one) }))),
  )
  for (const group of due) {
    const names = group.map(({ volume }) => volume)
    await takeGroup(deps, pool, group).catch((error: Error) =>
      deps.log.warn({ volumes: names, message: error.message }, 'checkpoint failed'),
    )
  }
  return due.length > 0
}

async function takeGroup(
  { numbers, writers, replicasOf, onTaken }: TakeDeps,
  pool: VolumePool,
  group: readonly PrimaryVolume[],
): Promise<void> {
  const numbered = group.map((one) => ({
    volume: one.volume,
    epoch: one.copy.epoch,
    known: [...one.facts.own, ...replicasOf(one).flatMap(({ held = [] }) => held)],
  }))
  const number = await numbers.reserve(pool, numbered)
  const thaw = group.length > 1 ? await writers.freeze(group.map(({ volume }) => volume)) : undefined
  try {
    for (const { volume, epoch } of numbered) {
      onTaken(volume, { epoch, number })
      await pool.takeCheckpoint(volume, { epoch, number })
    }
  } finally {
    await thaw?.()
  }
}

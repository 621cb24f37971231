// The steps of a planned handover on the primary. Whether a writer may run is observed before the flush of a round, so
// that a volume without writers that is clean after the flush stays clean.

import type { DesiredCopy, VolumeId } from '@holdfast/contract'
import { type HandoverStep, planHandover } from '@holdfast/core/node'
import type { Logger } from 'pino'
import type { LiveCopies } from '../ports/live-copies.ts'
import type { VolumeWriters } from '../ports/volume-writers.ts'
import type { PrimaryVolume } from './primary-volumes.ts'
import type { ReplicaTable } from './replica-table.ts'

export interface HandoverDeps {
  readonly writers: Pick<VolumeWriters, 'hasWriter'>
  readonly live: Pick<LiveCopies, 'release'>
  readonly table: ReplicaTable
  readonly log: Logger
}

/** The volumes in a handover that no container can write. A volume that could not be observed is not among them. */
export async function unwrittenVolumes(
  { writers, log }: HandoverDeps,
  copies: Iterable<DesiredCopy>,
): Promise<ReadonlySet<VolumeId>> {
  const found = new Set<VolumeId>()
  for (const { volume, handOverTo } of copies) {
    if (handOverTo === undefined) continue
    try {
      if (!(await writers.hasWriter(volume))) found.add(volume)
    } catch (error) {
      log.warn({ volume, message: String(error) }, 'writers of the volume unknown')
    }
  }
  return found
}

export function handoverStep(
  { table }: HandoverDeps,
  { volume, copy, facts }: PrimaryVolume,
  unwritten: ReadonlySet<VolumeId>,
): HandoverStep {
  if (copy.handOverTo === undefined) return { kind: 'replicate' }
  const { held } = table.of(volume, copy.handOverTo)
  return planHandover({ ...facts, held, isWritten: !unwritten.has(volume) })
}

/** Releases the volume if its successor has acknowledged the last checkpoint. */
export async function releaseIfDone(
  deps: HandoverDeps,
  one: PrimaryVolume,
  unwritten: ReadonlySet<VolumeId>,
): Promise<void> {
  const { volume, copy } = one
  const step = handoverStep(deps, one, unwritten)
  if (step.kind !== 'abdicate' || copy.handOverTo === undefined) return
  await deps.live.release(volume, { to: copy.handOverTo, checkpoint: step.checkpoint })
  deps.log.info({ volume, ...step.checkpoint, to: copy.handOverTo }, 'volume handed over')
}

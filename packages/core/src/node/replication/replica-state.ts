// How far a replica is behind its primary, from what it has acknowledged.

import type { ObservedCopy, VolumeCheckpoint } from '@holdfast/contract'

export type ReplicaState = NonNullable<ObservedCopy['replicas']>[number]['state']

/** A replica that is at most this far behind is current. */
export const CURRENT_MS = 15_000

export interface AcknowledgedState {
  /** The newest checkpoint that the replica has acknowledged; undefined if it has none. */
  readonly acknowledged: VolumeCheckpoint | undefined
  /** The replica has everything that was written before this time; undefined if the time is unknown. */
  readonly asOfMs: number | undefined
}

export function replicaState({ acknowledged, asOfMs }: AcknowledgedState, nowMs: number): ReplicaState {
  if (acknowledged === undefined) return 'seeding'
  return asOfMs !== undefined && nowMs - asOfMs <= CURRENT_MS ? 'current' : 'lagging'
}

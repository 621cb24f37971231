// The copies of a volume that can become its primary.

import { type HeldCopy, replicasOf, type VolumeRecord } from './volume-record.ts'

/**
 * The replicas that a promotion may choose, now or as soon as the stream under way is complete. A replica whose node is
 * silent or whose copy failed has to become current again first.
 */
export const promotableCopies = (volume: Pick<VolumeRecord, 'copies'>): HeldCopy[] =>
  replicasOf(volume).filter(({ state }) => state !== 'missing')

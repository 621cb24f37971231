// Keeps the promotable nodes and the configuration version of a volume in step with its copies, its primary and its
// handover. Every change of a volume ends with this rule. See docs/design/promotable-nodes.md#changes

import type { NodeId } from '@holdfast/contract'
import { replicasOf, type VolumeRecord } from '../volume-record.ts'

type Configured = Pick<VolumeRecord, 'primary' | 'copies' | 'handover' | 'promotable' | 'cv' | 'from'>

/**
 * The changed volume, with the promotable nodes that still hold a replica in the same epoch, and with a newer configuration
 * version if primary, epoch, promotable nodes or handover differ from those before.
 */
export function keepPromotable<V extends Configured>(before: Configured, changed: V): V {
  const after = losesPromotableInHandover(before, changed)
    ? { ...changed, ...withoutHandover(changed) }
    : changed
  const had = before.promotable ?? []
  const promotable = isSameReign(before, after) ? remaining(after) : []
  const isSame =
    isSameReign(before, after) &&
    before.handover?.to === after.handover?.to &&
    promotable.length === had.length &&
    promotable.every((nodeId) => had.includes(nodeId))
  if (isSame) return after
  return { ...after, promotable, cv: Math.max((before.cv ?? 0) + 1, after.cv ?? 0) }
}

const remaining = (volume: Configured): NodeId[] => {
  const holders = new Set(replicasOf(volume).map(({ nodeId }) => nodeId))
  return (volume.promotable ?? []).filter((nodeId) => holders.has(nodeId))
}

const isSameReign = ({ primary: before }: Configured, { primary: after }: Configured): boolean =>
  before?.nodeId === after?.nodeId && before?.epoch === after?.epoch

/**
 * A primary that has released its volume reads a newer version of the same epoch as the end of the handover. So a handover
 * during which a promotable node is lost is canceled.
 */
function losesPromotableInHandover(before: Configured, after: Configured): boolean {
  const continues = before.handover?.to !== undefined && before.handover.to === after.handover?.to
  if (!continues || !isSameReign(before, after)) return false
  const kept = remaining(after)
  return (before.promotable ?? []).some((nodeId) => !kept.includes(nodeId))
}

/**
 * The end of a handover without a new primary. The primary stays, with the data that it has, in a new epoch: it may have
 * released the volume without the server's knowledge, and a release holds until the end of its epoch.
 */
export const withoutHandover = ({ primary }: Pick<VolumeRecord, 'primary'>) => ({
  handover: null,
  ...(primary && { primary: { ...primary, epoch: primary.epoch + 1 }, from: undefined }),
})

// The record of a volume as the reducers of the promotion protocol read and change it. Each volume has an epoch, promotable
// nodes and a configuration version of its own. The volumes that one workload writes change together, in one transaction.
// See docs/design/promotable-nodes.md#records

import type { Configuration, NodeId } from '@holdfast/contract'
import type { GroupRecord } from '../promotion/group-record.ts'
import type { VolumeRecord } from './volume-record.ts'

/** Undefined until the volume has a primary. */
export function groupRecordOf({
  primary,
  promotable = [],
  cv = 0,
  handover,
}: VolumeRecord): GroupRecord | undefined {
  if (primary === null) return undefined
  // Nothing else changes the version during a handover, so the present one is that of its begin.
  const moving = handover?.to === undefined ? undefined : { to: handover.to, cv }
  return { epoch: primary.epoch, primary: primary.nodeId, promotable, cv, handover: moving }
}

/** The volume after a shrink or a grow. */
export function withPromotable<V extends VolumeRecord>(volume: V, { promotable, cv }: GroupRecord): V {
  const known = new Set<string>(promotable)
  const nodes = volume.copies.map(({ nodeId }) => nodeId).filter((nodeId) => known.has(nodeId))
  return { ...volume, promotable: nodes.toSorted(), cv }
}

/** The configuration as agents are sent it; undefined until the volume has a primary. */
export function configurationOf(volume: VolumeRecord): Configuration | undefined {
  const { id, primary, promotable = [], cv = 0, handover } = volume
  if (primary === null) return undefined
  const to: NodeId | undefined = handover?.to
  return {
    volume: id,
    epoch: primary.epoch,
    primary: primary.nodeId,
    promotable: [...promotable],
    cv,
    ...(to && { handOverTo: to }),
  }
}

// Applies the request of a primary to change the promotable nodes of its volume.
// See docs/design/promotable-nodes.md#requests-of-a-primary

import type { ConfigureRequest, NodeId } from '@holdfast/contract'
import { growGroup, shrinkGroup } from '../../promotion/controller.ts'
import { changeRecord, type GroupRecord } from '../../promotion/group-record.ts'
import { groupRecordOf, withPromotable } from '../group-configuration.ts'
import type { HeldCopy, VolumeRecord } from '../volume-record.ts'

/** The volume after the request of a node; the same object if the node is not the primary or the request is refused. */
export function configureVolume<V extends VolumeRecord>(
  volume: V,
  from: NodeId,
  request: ConfigureRequest,
  isAccepted: (nodeId: NodeId) => boolean,
): V {
  const record = groupRecordOf(volume)
  if (record === undefined || record.primary !== from) return volume
  const next = changed(volume, record, request, isAccepted)
  return next.cv === record.cv ? volume : withPromotable(volume, next)
}

function changed(
  { copies }: VolumeRecord,
  record: GroupRecord,
  { kind, epoch, cv, nodeId: node }: ConfigureRequest,
  isAccepted: (nodeId: NodeId) => boolean,
): GroupRecord {
  if (kind === 'read' || node === undefined) return record
  const from = record.primary
  if (kind === 'shrink') return shrinkGroup(record, { kind, from, epoch, node }).record
  const holds = copies.some((copy) => copy.nodeId === node && canPromise(copy))
  if (cv === undefined) return record
  const grow = { kind, from, epoch, cv, node }
  const grown = growGroup(record, grow).record
  // The primary needs the promise of the node until a newer version shows that the request can no longer be granted.
  return grown === record || (holds && isAccepted(node)) ? grown : changeRecord(record, {})
}

/** A copy that was never complete, whose node is silent or which leaves its node cannot replace the primary. */
const canPromise = ({ role, state, seeded, evacuating }: HeldCopy): boolean =>
  role === 'replica' && state !== 'missing' && seeded === true && evacuating !== true

// The copies of a volume as the agents of its nodes must hold them.

import type { DesiredCopy, NodeId } from '@holdfast/contract'
import type { HeldCopy, VolumeRecord } from './volume-record.ts'

type Volume = Pick<VolumeRecord, 'id' | 'spec' | 'primary' | 'copies'> &
  Partial<Pick<VolumeRecord, 'leaving' | 'handover' | 'from' | 'provisioned'>>

/** The desired copy of each node, and the copies that nodes must delete. */
export function desiredCopies(volume: Volume): Map<NodeId, DesiredCopy> {
  const desired = new Map<NodeId, DesiredCopy>()
  const { id, spec, primary, copies, leaving = [] } = volume
  const same = { volume: id, epoch: primary?.epoch ?? 1, sizeBytes: spec.sizeBytes }
  for (const { nodeId } of leaving)
    desired.set(nodeId, { ...same, role: 'replica', desired: 'removed', mayCreate: false, peers: [] })
  for (const copy of copies)
    desired.set(copy.nodeId, {
      ...same,
      role: copy.role,
      desired: 'present',
      peers: peersOf(volume, copy),
      ...(copy.role === 'primary' ? primaryMembers(volume) : { mayCreate: false }),
    })
  return desired
}

/** The primary sends to every replica; a replica receives from the primary only. */
const peersOf = ({ copies }: Volume, { role }: HeldCopy): NodeId[] =>
  copies.filter((other) => other.role !== role).map(({ nodeId }) => nodeId)

function primaryMembers({
  provisioned,
  from,
  handover,
}: Volume): Pick<DesiredCopy, 'mayCreate' | 'from' | 'handOverTo'> {
  return {
    mayCreate: provisioned !== true,
    ...(from === undefined ? {} : { from }),
    ...(handover?.to === undefined ? {} : { handOverTo: handover.to }),
  }
}

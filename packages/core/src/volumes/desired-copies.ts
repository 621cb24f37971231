// The copies of a volume as the agents of its nodes must hold them.

import type { DesiredCopy, NodeId } from '@holdfast/contract'
import type { HeldCopy, VolumeRecord } from './volume-record.ts'

type Volume = Pick<VolumeRecord, 'id' | 'spec' | 'primary' | 'copies'> &
  Partial<Pick<VolumeRecord, 'leaving' | 'handover' | 'from' | 'provisioned' | 'promotable' | 'cv'>>

/**
 * The desired copy of each node, and the copies that nodes must delete. `images` are those of the containers that write the
 * volume.
 */
export function desiredCopies(volume: Volume, images: readonly string[] = []): Map<NodeId, DesiredCopy> {
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
      ...promiseMembers(volume, copy, images),
    })
  return desired
}

/** The primary sends to every replica; a replica receives from the primary only. */
const peersOf = ({ copies }: Volume, { role }: HeldCopy): NodeId[] =>
  copies.filter((other) => other.role !== role).map(({ nodeId }) => nodeId)

type PromiseMembers = Pick<DesiredCopy, 'cv' | 'promotable' | 'images'>

function promiseMembers(
  { cv = 0, promotable = [] }: Volume,
  { role, nodeId }: HeldCopy,
  images: readonly string[],
): PromiseMembers {
  const isPromotable = role === 'replica' && promotable.includes(nodeId)
  return { cv, promotable: [...promotable], ...(isPromotable && { images: [...images] }) }
}

/** The copy for an agent without the capability `promises`. */
export function withoutPromises(copy: DesiredCopy): DesiredCopy {
  const { cv: _version, promotable: _nodes, images: _images, ...others } = copy
  return others
}

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

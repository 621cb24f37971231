// The states of a volume's copies, from the reports of its agents and the liveness of its nodes.

import type { NodeId } from '@holdfast/contract'
import {
  type HeldCopy,
  primaryReport,
  replicasOf,
  type VolumeRecord,
  type VolumeSituation,
  withLeaving,
} from './volume-record.ts'

/** Forgets removals that agents have confirmed or whose node is gone, and replicas whose node is gone. */
export function forgetGone<V extends VolumeRecord>(volume: V, situation: VolumeSituation): V {
  const { nodeOf, reportOf } = situation
  const isOver = (id: NodeId) => nodeOf(id) === undefined || reportOf(id)?.state === 'removed'
  const leaving = volume.leaving?.filter(({ nodeId }) => !isOver(nodeId)) ?? []
  const copies = volume.copies.filter(
    ({ role, nodeId }) => role === 'primary' || nodeOf(nodeId) !== undefined,
  )
  return { ...withLeaving(volume, leaving), copies }
}

/** The volume with the states of its copies as observed now. */
export function observeCopies<V extends VolumeRecord>(volume: V, situation: VolumeSituation): V {
  const isMade = primaryReport(volume, situation)?.state === 'present'
  return {
    ...volume,
    copies: volume.copies.map((copy) => observed(volume, copy, situation)),
    ...(isMade ? { provisioned: true } : {}),
  }
}

function observed(volume: VolumeRecord, copy: HeldCopy, situation: VolumeSituation): HeldCopy {
  const state =
    copy.role === 'primary' ? primaryState(volume, copy, situation) : replicaState(volume, copy, situation)
  const isComplete = state === 'current' || state === 'lagging'
  return { ...copy, state, ...(isComplete ? { seeded: true } : {}), ...sinceOf(copy, state, situation) }
}

/** A record of an earlier version lacks the time; it gets one when the copy falls behind or is missing. */
function sinceOf(
  copy: HeldCopy,
  state: HeldCopy['state'],
  { now }: VolumeSituation,
): Pick<HeldCopy, 'stateSince'> {
  const isKnown = copy.stateSince !== undefined || state === 'current' || state === 'seeding'
  return state === copy.state && isKnown ? {} : { stateSince: new Date(now).toISOString() }
}

function primaryState(volume: VolumeRecord, copy: HeldCopy, situation: VolumeSituation): HeldCopy['state'] {
  if (situation.nodeOf(copy.nodeId)?.status !== 'ready') return 'missing'
  const report = primaryReport(volume, situation)
  if (report?.state === 'present') return 'current'
  if (volume.provisioned !== true) return 'seeding'
  return report?.state === 'failed' ? 'missing' : copy.state
}

/** The primary reports how far each replica is; without its report, the last known state remains. */
function replicaState(volume: VolumeRecord, copy: HeldCopy, situation: VolumeSituation): HeldCopy['state'] {
  const { nodeId } = copy
  const own = situation.reportOf(nodeId)
  if (situation.nodeOf(nodeId)?.status !== 'ready') return 'missing'
  if (own?.state === 'failed' && own.epoch === volume.primary?.epoch) return 'missing'
  const reported = primaryReport(volume, situation)?.replicas?.find((replica) => replica.nodeId === nodeId)
  // The primary may still speak of an earlier copy on the same node, whose data is deleted.
  const isFilled = copy.seeded === true || own?.state === 'present'
  if (reported !== undefined) return isFilled ? reported.state : 'seeding'
  if (copy.state !== 'missing') return copy.state
  return copy.seeded === true ? 'lagging' : 'seeding'
}

/** Why a ready volume has less protection than its spec demands, as one word; null if it does not. */
export function replicationReason(volume: VolumeRecord): 'under_replicated' | 'replica_lagging' | null {
  const kept = replicasOf(volume)
  const usable = kept.filter(({ state }) => state === 'current' || state === 'lagging')
  if (usable.length < volume.spec.replicas) return 'under_replicated'
  const current = kept.filter(({ state }) => state === 'current')
  return current.length < volume.spec.replicas ? 'replica_lagging' : null
}

// The phase of a volume and its reason, from the state of its primary.

import { replicationReason } from './copy-states.ts'
import { primaryReport, replicasOf, type VolumeRecord, type VolumeSituation } from './volume-record.ts'

type PhaseAndReason = Pick<VolumeRecord, 'phase' | 'reason'>

/** The phase of a volume whose copies were just observed. Deleting and Lost are decided elsewhere and are final. */
export function phaseOf(volume: VolumeRecord, situation: VolumeSituation): PhaseAndReason {
  const { primary, spec, provisioned } = volume
  if (spec.class === 'object') return { phase: 'Ready', reason: null }
  if (primary === null) return { phase: 'Pending', reason: 'unschedulable' }
  const fault = primaryFault(volume, situation)
  if (provisioned !== true) return { phase: 'Materializing', reason: fault ?? unplacedReason(volume) }
  if (fault !== undefined) return { phase: 'Degraded', reason: fault }
  const report = primaryReport(volume, situation)
  // An agent that has not checked its copy since its start says nothing about the phase.
  if (report?.state !== 'present') return { phase: volume.phase, reason: volume.reason }
  if (report.sizeBytes !== spec.sizeBytes || isResizing(volume, situation))
    return {
      phase: volume.phase === 'Materializing' ? volume.phase : 'Resizing',
      reason: resizeFault(volume, situation),
    }
  return { phase: 'Ready', reason: readyReason(volume, situation) }
}

/** Why the volume has no live primary, as one word; undefined if it has one. */
function primaryFault(volume: VolumeRecord, situation: VolumeSituation): string | undefined {
  const node = volume.primary === null ? undefined : situation.nodeOf(volume.primary.nodeId)
  if (node === undefined) return 'node_removed'
  if (volume.unpromoted && node.status !== 'ready') return volume.unpromoted
  if (node.status === 'failed') return 'node_failed'
  // The last report is of the newer agent, so it says nothing about now.
  if (node.isTooOld === true) return 'agent_version'
  const report = primaryReport(volume, situation)
  if (report?.state === 'failed') return report.reason || 'copy_failed'
  return node.hasPool ? undefined : 'pool_unreadable'
}

const unplacedReason = ({ copies, spec }: VolumeRecord): string | null =>
  copies.length < 1 + spec.replicas ? 'under_replicated' : null

/** A resize lasts until every copy that can report has the new size. */
function isResizing(volume: VolumeRecord, { reportOf }: VolumeSituation): boolean {
  const pending = volume.copies.filter(
    ({ nodeId, state }) => state !== 'missing' && reportOf(nodeId)?.sizeBytes !== volume.spec.sizeBytes,
  )
  return volume.phase === 'Resizing' && pending.length > 0
}

function resizeFault({ copies }: VolumeRecord, { reportOf }: VolumeSituation): string | null {
  const reasons = copies.map(({ nodeId }) => reportOf(nodeId)?.reason ?? '')
  return reasons.find((reason) => reason !== '') ?? null
}

function readyReason(volume: VolumeRecord, { nodeOf }: VolumeSituation): string | null {
  if (volume.handover?.to !== undefined) return 'handing_over'
  if (volume.primary !== null && nodeOf(volume.primary.nodeId)?.status !== 'ready')
    return 'primary_unreachable'
  return replicationReason(volume)
}

/** Whether no copy of the data is left: the node of the primary was removed and no replica was ever complete. */
export function isLost(volume: VolumeRecord, { nodeOf }: VolumeSituation): boolean {
  const { primary, provisioned } = volume
  if (primary === null || provisioned !== true || nodeOf(primary.nodeId) !== undefined) return false
  return !replicasOf(volume).some(({ seeded }) => seeded === true)
}

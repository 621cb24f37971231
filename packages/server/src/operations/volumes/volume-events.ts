// The events about a volume.

import type { StoredVolume } from '../../store/records.ts'
import type { NewEvent } from '../record-write.ts'

const subjectOf = ({ id, spec }: StoredVolume) => ({ kind: 'Volume', name: spec.name, uid: id })

export function volumeCreatedEvent(volume: StoredVolume): NewEvent {
  const { spec, phase, primary } = volume
  const where = primary === null ? 'no node fits yet' : `its primary is ${primary.nodeId}`
  return {
    type: 'volume.created',
    severity: 'info',
    subject: subjectOf(volume),
    cause: 'created',
    reason: 'created',
    message: `Volume ${spec.name} was created; ${where}.`,
    data: { class: spec.class, sizeBytes: spec.sizeBytes, replicas: spec.replicas, phase },
  }
}

export function replicaAddedEvent(volume: StoredVolume, nodeId: string): NewEvent {
  const { spec, revision } = volume
  return {
    type: 'volume.replica_added',
    severity: 'info',
    subject: subjectOf(volume),
    cause: `${revision}/${nodeId}`,
    reason: 'replica_added',
    message: `Node ${nodeId} gets a copy of volume ${spec.name}.`,
    data: { nodeId, replicas: spec.replicas },
  }
}

export function volumeResizedEvent(volume: StoredVolume, before: number): NewEvent {
  const { spec, revision } = volume
  return {
    type: 'volume.resized',
    severity: 'info',
    subject: subjectOf(volume),
    cause: String(revision),
    reason: 'resized',
    message: `The size of volume ${spec.name} changes from ${before} to ${spec.sizeBytes} bytes.`,
    data: { from: before, to: spec.sizeBytes },
  }
}

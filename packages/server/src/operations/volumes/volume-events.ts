// The events about a volume. Messages name nodes as people do; the data has their ids.

import type { NodeId, Recommendation } from '@holdfast/contract'
import type { VolumeOccurrence } from '@holdfast/core'
import type { StoredVolume } from '../../store/records.ts'
import type { NewEvent } from '../record-write.ts'

/** The name of a node of the tenant. */
export type NodeName = (nodeId: NodeId) => string

const subjectOf = ({ id, spec }: StoredVolume) => ({ kind: 'Volume', name: spec.name, uid: id })

export function volumeCreatedEvent(volume: StoredVolume, nameOf: NodeName): NewEvent {
  const { spec, phase, primary } = volume
  const where = primary === null ? 'no node fits yet' : `its primary is on ${nameOf(primary.nodeId)}`
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

export function replicaAddedEvent(volume: StoredVolume, nodeId: NodeId, nameOf: NodeName): NewEvent {
  const { spec, revision } = volume
  return {
    type: 'volume.replica_added',
    severity: 'info',
    subject: subjectOf(volume),
    cause: `${revision}/${nodeId}`,
    reason: 'replica_added',
    message: `Node ${nameOf(nodeId)} gets a copy of volume ${spec.name}.`,
    data: { nodeId, replicas: spec.replicas },
  }
}

export function replicaRemovedEvent(volume: StoredVolume, nodeId: NodeId, nameOf: NodeName): NewEvent {
  const { spec, revision } = volume
  return {
    type: 'volume.replica_removed',
    severity: 'info',
    subject: subjectOf(volume),
    cause: `${revision}/${nodeId}`,
    reason: 'replica_removed',
    message: `Node ${nameOf(nodeId)} deletes its copy of volume ${spec.name}.`,
    data: { nodeId, replicas: spec.replicas },
  }
}

export function volumeDeletedEvent(volume: StoredVolume): NewEvent {
  return {
    type: 'volume.deleted',
    severity: 'info',
    subject: subjectOf(volume),
    cause: 'deleted',
    reason: 'deleted',
    message: `Volume ${volume.spec.name} was deleted; no node has data of it.`,
    data: {},
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

/** The event of a change that the volume controller made at the time `now`. */
export function occurrenceEvent(
  volume: StoredVolume,
  occurrence: VolumeOccurrence,
  now: string,
  nameOf: NodeName,
): NewEvent {
  const { epoch } = volume.primary ?? { epoch: 0 }
  const base = { subject: subjectOf(volume), cause: `${occurrence.kind} ${epoch} ${now}` }
  switch (occurrence.kind) {
    case 'replica_added':
      return {
        ...replicaAddedEvent(volume, occurrence.nodeId, nameOf),
        cause: `${base.cause} ${occurrence.nodeId}`,
      }
    case 'replica_removed':
      return {
        ...replicaRemovedEvent(volume, occurrence.nodeId, nameOf),
        cause: `${base.cause} ${occurrence.nodeId}`,
      }
    case 'ready':
      return { ...base, ...readyText(volume, nameOf) }
    case 'degraded':
      return { ...base, ...degradedText(volume, occurrence.reason, nameOf) }
    case 'lost':
      return { ...base, ...lostText(volume, occurrence, nameOf) }
    case 'handed_over':
      return { ...base, ...handedOverText(volume, occurrence, nameOf) }
  }
}

type EventText = Omit<NewEvent, 'subject' | 'cause'>

const nameOfPrimary = ({ primary }: StoredVolume, nameOf: NodeName): string =>
  primary === null ? 'no node' : nameOf(primary.nodeId)

function readyText(volume: StoredVolume, nameOf: NodeName): EventText {
  const { spec, primary } = volume
  return {
    type: 'volume.ready',
    severity: 'info',
    reason: 'ready',
    message: `Volume ${spec.name} is ready on ${nameOfPrimary(volume, nameOf)}.`,
    data: { nodeId: primary?.nodeId ?? null, epoch: primary?.epoch ?? 0 },
  }
}

function degradedText(volume: StoredVolume, reason: string, nameOf: NodeName): EventText {
  const { spec, primary } = volume
  return {
    type: 'volume.degraded',
    severity: 'error',
    reason,
    message: `Volume ${spec.name} has no live primary: ${reason} (${nameOfPrimary(volume, nameOf)}).`,
    data: { nodeId: primary?.nodeId ?? null },
  }
}

type Occurred<Kind extends VolumeOccurrence['kind']> = Extract<VolumeOccurrence, { kind: Kind }>

function lostText(
  { spec }: StoredVolume,
  { nodeId, recreatedOn }: Occurred<'lost'>,
  nameOf: NodeName,
): EventText {
  const outcome =
    recreatedOn === null ? 'no copy is left' : `an empty one was created on ${nameOf(recreatedOn)}`
  return {
    type: 'volume.lost',
    severity: 'error',
    reason: recreatedOn === null ? 'no_copy_left' : 'recreated_empty',
    message: `The data of volume ${spec.name} on ${nameOf(nodeId)} is lost; ${outcome}.`,
    data: { nodeId, recreatedOn },
  }
}

function handedOverText(
  { spec, primary }: StoredVolume,
  { from, to }: Occurred<'handed_over'>,
  nameOf: NodeName,
): EventText {
  return {
    type: 'volume.handed_over',
    severity: 'info',
    reason: 'handed_over',
    message: `The primary of volume ${spec.name} moved from ${nameOf(from)} to ${nameOf(to)}; nothing was lost.`,
    data: { from, to, epoch: primary?.epoch ?? 0 },
  }
}

export function recommendationAppliedEvent(volume: StoredVolume, applied: Recommendation): NewEvent {
  const { spec, revision } = volume
  const change =
    applied.parameters.action === 'resize' ? `has ${spec.sizeBytes} bytes` : `has ${counted(spec.replicas)}`
  return {
    type: 'recommendation.applied',
    severity: 'info',
    subject: subjectOf(volume),
    cause: `${revision}/${applied.type}`,
    reason: applied.type,
    message: `The recommendation ${applied.type} was applied: volume ${spec.name} now ${change}.`,
    data: { recommendationId: applied.id, replicas: spec.replicas, sizeBytes: spec.sizeBytes },
  }
}

const counted = (replicas: number): string => (replicas === 1 ? '1 replica' : `${replicas} replicas`)

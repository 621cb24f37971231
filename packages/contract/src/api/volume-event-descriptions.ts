// When each type of event about a volume is emitted and what its `data` holds.

import type { EventType, Severity } from './event.ts'

export interface EventDescription {
  /** Text that completes the sentence "Emitted when ...". */
  readonly when: string
  /** The next step of the reader, with commands in backticks; absent if there is nothing to do. */
  readonly next?: string
  /** The severities of an event type. There are several if the severity depends on the reason of the event. */
  readonly severity: readonly Severity[]
  /** The kinds of record that the `subject` of an event can name. */
  readonly subjects: readonly (
    | 'Backup'
    | 'Deployment'
    | 'Job'
    | 'Network'
    | 'Node'
    | 'Secret'
    | 'Tenant'
    | 'Volume'
  )[]
  /** The members of an event's `data`, each with its meaning. */
  readonly data: { readonly [member: string]: string }
}

const NODE_ID = 'id of the node'

type VolumeEventType = Extract<EventType, `volume.${string}` | `recommendation.${string}`>

export const VOLUME_EVENT_DESCRIPTIONS: { readonly [type in VolumeEventType]: EventDescription } = {
  'volume.created': {
    when: 'a volume is created',
    severity: ['info'],
    subjects: ['Volume'],
    data: {
      class: 'class of the volume',
      sizeBytes: 'its size',
      replicas: 'the desired number of copies besides the primary',
      phase: '`Pending` if no node fits, else `Materializing`; `Ready` for the class object',
    },
  },
  'volume.ready': {
    when: 'the primary of a volume was created, or is live again',
    severity: ['info'],
    subjects: ['Volume'],
    data: { nodeId: NODE_ID, epoch: 'counts the primaries of the volume' },
  },
  'volume.degraded': {
    when: 'a volume has no live primary: its node has failed or was removed, or the storage pool has a fault',
    severity: ['error'],
    subjects: ['Volume'],
    data: { nodeId: NODE_ID },
  },
  'volume.promoted': {
    when: 'a copy of a volume became its primary, because the primary was silent or an operator forced it; `reason` is `primary_silent` or `forced`',
    severity: ['warning'],
    subjects: ['Volume'],
    data: {
      fromEpoch: 'the epoch that ended',
      toEpoch: 'the epoch that began',
      from: 'id of the node before',
      to: 'id of the node now',
      checkpoint: 'the number of the checkpoint with which the copy continues',
      lossSeconds: 'upper bound of the time whose writes are lost; null if it is unknown',
      bytesAtLeast:
        'lower bound of the lost bytes; always 0, because only the silent node knows them: once it is back, `volume.divergence_preserved` counts the data that it keeps',
    },
  },
  'volume.divergence_preserved': {
    when: 'a node that was the primary before a promotion is back, and keeps the data that it wrote last in quarantine',
    severity: ['warning'],
    subjects: ['Volume'],
    data: {
      nodeId: NODE_ID,
      epoch: 'the epoch in which the data was written',
      usedBytes: 'its bytes; null while they are unknown',
    },
  },
  'volume.lost': {
    when: 'the last copy of the data of a volume is gone, or an ephemeral volume was created again, empty, on another node',
    severity: ['error'],
    subjects: ['Volume'],
    data: { nodeId: NODE_ID, recreatedOn: 'the node with the new, empty volume; null if there is none' },
  },
  'volume.replica_added': {
    when: 'a node gets a further copy of a volume',
    severity: ['info'],
    subjects: ['Volume'],
    data: { nodeId: NODE_ID, replicas: 'the desired number of copies besides the primary' },
  },
  'volume.resized': {
    when: 'a client changes the size of a volume',
    severity: ['info'],
    subjects: ['Volume'],
    data: { from: 'the size before, in bytes', to: 'the new size' },
  },
  'volume.replica_removed': {
    when: 'a node must delete its copy of a volume',
    severity: ['info'],
    subjects: ['Volume'],
    data: { nodeId: NODE_ID, replicas: 'the desired number of copies besides the primary' },
  },
  'volume.handed_over': {
    when: 'the primary of a volume moved from a node that is drained or released to another one, with all its data',
    severity: ['info'],
    subjects: ['Volume'],
    data: {
      from: 'id of the node before',
      to: 'id of the node now',
      epoch: 'counts the primaries of the volume',
    },
  },
  'volume.fenced': {
    when: 'the primary of a volume lost the promises of its copies, and its writers were ended before a copy could replace it',
    severity: ['warning'],
    subjects: ['Volume'],
    data: {
      nodeId: NODE_ID,
      since: 'when the writers were ended',
      epoch: 'counts the primaries of the volume',
    },
  },
  'volume.deleted': {
    when: 'a volume was deleted and every agent has confirmed that its data is gone',
    severity: ['info'],
    subjects: ['Volume'],
    data: {},
  },
  'recommendation.applied': {
    when: 'a recommendation for a volume is applied; `reason` is its type',
    severity: ['info'],
    subjects: ['Volume'],
    data: {
      recommendationId: 'id of the recommendation',
      replicas: 'number of replicas after the change',
      sizeBytes: 'size after the change',
    },
  },
}

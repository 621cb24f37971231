// Volumes: the bodies of their requests and the record that the API returns.

import type { NodeId, VolumeId } from '../ids.ts'
import {
  boolean,
  branded,
  field,
  type Infer,
  integer,
  list,
  nullable,
  object,
  oneOf,
  optional,
  string,
} from '../shapes/shape.ts'
import {
  volumePatchTexts,
  volumePromotionTexts,
  volumeReplicaTexts,
  volumeResizeTexts,
  volumeTexts,
} from '../texts/volume-texts.ts'
import { alterationShape, warningShape } from './rejection.ts'
import { residencyDemandShape } from './residency.ts'

export const VOLUME_CLASSES = ['ephemeral', 'replicated', 'object'] as const
export type VolumeClass = (typeof VOLUME_CLASSES)[number]

export const VOLUME_PHASES = [
  'Pending',
  'Materializing',
  'Ready',
  'Degraded',
  'Promoting',
  'Resizing',
  'Lost',
  'Deleting',
] as const

export const COPY_ROLES = ['primary', 'replica'] as const
export const COPY_STATES = ['seeding', 'current', 'lagging', 'missing'] as const

/** The body of POST /tenants/{tenant}/volumes. */
export const newVolumeShape = object({
  name: field(volumeTexts.name, string()),
  class: field(volumeTexts.class, string()),
  sizeBytes: field(volumeTexts.sizeBytes, integer()),
  replicas: field(volumeTexts.replicas, optional(integer())),
  nodeId: field(volumeTexts.nodeId, optional(string())),
  residency: field(volumeTexts.residency, optional(residencyDemandShape)),
})

/** The body of PATCH /tenants/{tenant}/volumes/{id}. */
export const volumePatchShape = object({ replicas: field(volumePatchTexts.replicas, integer()) })

/** The body of POST /tenants/{tenant}/volumes/{id}/resize. */
export const volumeResizeShape = object({ sizeBytes: field(volumeResizeTexts.sizeBytes, integer()) })

/** The body of POST /tenants/{tenant}/volumes/{id}/replicas. */
export const volumeReplicaShape = object({ node_id: field(volumeReplicaTexts.node_id, string()) })

/** The body of POST /tenants/{tenant}/volumes/{id}/promote. */
export const volumePromotionShape = object({
  nodeId: field(volumePromotionTexts.nodeId, optional(string())),
  force: field(volumePromotionTexts.force, optional(boolean())),
  primaryIsDead: field(volumePromotionTexts.primaryIsDead, optional(boolean())),
})
export type SentPromotion = Infer<typeof volumePromotionShape>

/** The spec of a volume, as it is stored. */
export const volumeSpecShape = object({
  name: string(),
  class: oneOf(VOLUME_CLASSES),
  sizeBytes: integer(),
  replicas: integer(),
  nodeId: optional(branded<NodeId>()),
  residency: optional(residencyDemandShape),
})
export type VolumeSpec = Infer<typeof volumeSpecShape>

/** One copy of a volume on a node. */
export const volumeCopyShape = object({
  nodeId: branded<NodeId>(),
  role: oneOf(COPY_ROLES),
  state: oneOf(COPY_STATES),
})
export type VolumeCopy = Infer<typeof volumeCopyShape>

export const PROMOTION_CAUSES = ['primary_silent', 'forced'] as const

/** A change of the primary after which a copy continues with its own data. */
export const promotionShape = object({
  at: string(),
  fromEpoch: integer(),
  toEpoch: integer(),
  from: branded<NodeId>(),
  to: branded<NodeId>(),
  /** `forced`: an operator waived the limit on the loss, or stated that the primary is dead. */
  cause: oneOf(PROMOTION_CAUSES),
  /** The number of the checkpoint with which the copy continues. */
  checkpoint: integer(),
  /** Upper bound of the time whose writes are lost, in milliseconds; null if the copy could not bound it. */
  lossMs: nullable(integer()),
})
export type Promotion = Infer<typeof promotionShape>

/** The forecast for the death of the primary's node at the time of the request. */
export const primaryDeathShape = object({
  /** The node whose copy continues; null if none does. */
  nodeId: nullable(branded<NodeId>()),
  nodeName: nullable(string()),
  /** The age of its data in seconds; null if it is unknown. */
  dataAge: nullable(integer()),
  message: string(),
  /** Each copy besides the primary: `none`, or what keeps it from continuing, as one word and with the remedy. */
  copies: list(
    object({ nodeId: branded<NodeId>(), nodeName: string(), obstacle: string(), message: string() }),
  ),
})
export type PrimaryDeath = Infer<typeof primaryDeathShape>

export const volumeShape = object({
  id: branded<VolumeId>(),
  ...volumeSpecShape.fields,
  phase: oneOf(VOLUME_PHASES),
  /** Why the volume is not as its spec demands, as one word; null if it is. */
  reason: nullable(string()),
  primary: nullable(
    object({ nodeId: branded<NodeId>(), nodeName: string(), epoch: integer(), since: string() }),
  ),
  copies: list(
    object({
      ...volumeCopyShape.fields,
      nodeName: string(),
      /** The number of the last complete checkpoint, its age in seconds; null while they are unknown. */
      checkpoint: nullable(integer()),
      checkpointAge: nullable(integer()),
      promotable: boolean(),
      /** Of a promotable copy: whether it still promises to elect no other primary; null for the others. */
      promise: nullable(oneOf(['promised', 'expired'])),
    }),
  ),
  /** Since when a fence keeps the writers on the node of the primary from running; null without one. */
  fencedSince: nullable(string()),
  /** The last promotions, the newest first, at most ten. */
  promotions: list(object({ ...promotionShape.fields, fromName: string(), toName: string() })),
  /** Absent in lists, in answers to changes, and for a volume without a primary. */
  ifPrimaryDies: optional(primaryDeathShape),
  /** The bytes in use and the time of the measurement; null if no node has answered. */
  usedBytes: nullable(integer()),
  measuredAt: nullable(string()),
  /** The names of the deployments that mount the volume. */
  consumers: list(string()),
  createdAt: string(),
  revision: integer(),
})
export type Volume = Infer<typeof volumeShape>

export const writtenVolumeShape = object({
  volume: volumeShape,
  alterations: list(alterationShape),
  warnings: list(warningShape),
})
export type WrittenVolume = Infer<typeof writtenVolumeShape>

/** A snapshot record. None can be created, so lists of them are empty. */
export const snapshotShape = object({ id: string() })

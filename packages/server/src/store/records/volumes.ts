// Volumes: their specs, phases and copies. Ages and bytes in use are measured and not stored.

import {
  type AssignmentId,
  boolean,
  branded,
  checkpointShape,
  type Infer,
  integer,
  list,
  type NodeId,
  nullable,
  type Owner,
  object,
  observedCopyShape,
  offeredCopyShape,
  oneOf,
  optional,
  promotionShape,
  quarantinedCopyShape,
  string,
  type TenantId,
  VOLUME_PHASES,
  type VolumeId,
  volumeCopyShape,
  volumeSpecShape,
} from '@holdfast/contract'
import { globalCollection, historyCollection, tenantCollection, v } from './collection.ts'

export const storedVolumeShape = object({
  v,
  id: branded<VolumeId>(),
  spec: volumeSpecShape,
  phase: oneOf(VOLUME_PHASES),
  reason: nullable(string()),
  /** The node whose copy may be written; null until a node fits. `epoch` counts the primaries of the volume. */
  primary: nullable(object({ nodeId: branded<NodeId>(), epoch: integer(), since: string() })),
  copies: list(
    object({
      ...volumeCopyShape.fields,
      /** Whether the copy was complete once. */
      seeded: optional(boolean()),
      /** Whether the node of the copy was drained: the copy stays until as many others are current. */
      evacuating: optional(boolean()),
      /** When the copy got its state. */
      stateSince: optional(string()),
    }),
  ),
  /** The nodes whose agents must delete a copy and have not confirmed it. */
  leaving: optional(list(object({ nodeId: branded<NodeId>(), since: string() }))),
  /** The node that becomes the primary once the present one has released the volume; absent or null without one. */
  handover: optional(nullable(object({ to: branded<NodeId>(), since: string() }))),
  /** The checkpoint that is the content of a primary that was a replica before. */
  from: optional(checkpointShape),
  /** Whether the primary was reported once. Afterwards a primary that its pool lacks is never created empty. */
  provisioned: optional(boolean()),
  /** Nodes whose promises the primary needs, and which may be promoted; absent: none. */
  promotable: optional(list(branded<NodeId>())),
  /** Configuration version: increases with every change of primary, `promotable` and handover; absent: 0. */
  cv: optional(integer()),
  /** The last promotions, the newest first. */
  promotions: optional(list(promotionShape)),
  /** Why no copy replaces a silent primary, as one word; absent or null: none has to, or one may soon. */
  unpromoted: optional(nullable(string())),
  revision: integer(),
  createdAt: string(),
  /** The number of the quota slot that the volume occupies. */
  slot: integer(),
})
export type StoredVolume = Infer<typeof storedVolumeShape>

const { epoch, state, sizeBytes, reason, replicas, released, isPromiseExpired, fencedSince } =
  observedCopyShape.fields

/** The last report of an agent about its copy of a volume; the key is the volume and the node. */
export const copyReportShape = object({
  v,
  volume: branded<VolumeId>(),
  nodeId: branded<NodeId>(),
  epoch,
  state,
  sizeBytes,
  reason,
  replicas,
  released,
  isPromiseExpired,
  fencedSince,
  at: string(),
})
export type StoredCopyReport = Infer<typeof copyReportShape>

const { volume: offered, epoch: offeredEpoch, role } = offeredCopyShape.fields

/** The last report of an agent about its pool; the key is the node. At most `MAX_OFFERS` copies of each kind. */
export const poolShape = object({
  v,
  nodeId: branded<NodeId>(),
  poolId: optional(string()),
  /** The tenant of the data in the pool, if it is another one. */
  foreign: optional(string()),
  /** The last order by which all data was deleted. */
  wiped: optional(string()),
  /** Absent if the pool could not be read. */
  copies: optional(list(object({ volume: offered, epoch: offeredEpoch, role }))),
  quarantined: optional(list(quarantinedCopyShape)),
  at: string(),
})
export type StoredPool = Infer<typeof poolShape>

/**
 * A pool whose node was removed although its agent has not confirmed that the data is deleted; the key is the id of the
 * pool's file system. Deleted when an agent confirms it. There is at most one for each node that was removed by force.
 */
export const poolMarkShape = object({
  v,
  tenant: branded<TenantId>(),
  nodeName: string(),
  /** The order by which another tenant's agent deletes the data. */
  order: string(),
  /** The volumes of which the pool may have data. One of them that has no record later was deleted. */
  volumes: list(branded<VolumeId>()),
  at: string(),
})

/** The volume that has a name; the key is the name. */
export const volumeNameShape = object({ v, id: branded<VolumeId>() })

/**
 * The bytes of all volumes of a tenant, under one fixed key. Every write of a volume compares and writes this record, so
 * the writes of one tenant follow each other, and neither the quota nor a storage pool is exceeded.
 */
export const volumeUseShape = object({ v, bytes: integer() })

/** The one workload that may write to a volume; the key is the volume's id. See docs/design/volumes.md#mounts-and-writers */
export const volumeWriterShape = object({
  v,
  volume: branded<VolumeId>(),
  owner: branded<Owner>(),
  /** The name of the workload, for messages. */
  name: string(),
  /** The newest assignment that writes; absent until there was one. */
  assignmentId: optional(branded<AssignmentId>()),
  /** The epoch of the volume's primary when that assignment was created; 0 before, and for a volume in memory. */
  epoch: integer(),
  /** `releasing`: the workload no longer mounts the volume, but a container that writes may still exist. */
  state: oneOf(['bound', 'releasing']),
})
export type StoredVolumeWriter = Infer<typeof volumeWriterShape>

export const volumes = tenantCollection('vol', storedVolumeShape, true)
export const copyReports = historyCollection('volobs', copyReportShape, true)
export const copyReportId = (volume: VolumeId, nodeId: NodeId): string => `${volume}/${nodeId}`
export const pools = historyCollection('pool', poolShape, true)
export const poolMarks = globalCollection('poolmark', poolMarkShape)
export const volumeNames = tenantCollection('volname', volumeNameShape, true)
export const volumeUse = tenantCollection('voluse', volumeUseShape, true)
export const volumeWriters = tenantCollection('volw', volumeWriterShape, true)
export const VOLUME_USE_ID = 'total'

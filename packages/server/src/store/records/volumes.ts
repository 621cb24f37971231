// Volumes: their specs, phases and copies. Ages and bytes in use are measured and not stored.

import {
  type AssignmentId,
  branded,
  type Infer,
  integer,
  list,
  type NodeId,
  nullable,
  type Owner,
  object,
  oneOf,
  optional,
  string,
  VOLUME_PHASES,
  type VolumeId,
  volumeCopyShape,
  volumeSpecShape,
} from '@holdfast/contract'
import { tenantCollection, v } from './collection.ts'

export const storedVolumeShape = object({
  v,
  id: branded<VolumeId>(),
  spec: volumeSpecShape,
  phase: oneOf(VOLUME_PHASES),
  reason: nullable(string()),
  /** The node whose copy may be written; null until a node fits. `epoch` counts the primaries of the volume. */
  primary: nullable(object({ nodeId: branded<NodeId>(), epoch: integer(), since: string() })),
  copies: list(volumeCopyShape),
  revision: integer(),
  createdAt: string(),
  /** The number of the quota slot that the volume occupies. */
  slot: integer(),
})
export type StoredVolume = Infer<typeof storedVolumeShape>

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
export const volumeNames = tenantCollection('volname', volumeNameShape, true)
export const volumeUse = tenantCollection('voluse', volumeUseShape, true)
export const volumeWriters = tenantCollection('volw', volumeWriterShape, true)
export const VOLUME_USE_ID = 'total'

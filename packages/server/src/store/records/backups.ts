// Backups of deployments. The content is stored in parts, because etcd accepts 1.5 MiB per request; the record of the
// backup is written last and makes it visible (docs/design/backups.md#parts).

import {
  archiveEntryShape,
  type BackupId,
  backupShape,
  branded,
  type DeploymentUid,
  deploymentSpecShape,
  type Infer,
  integer,
  type JsonObject,
  json,
  list,
  map,
  object,
  optional,
  string,
} from '@holdfast/contract'
import { tenantCollection, v } from './collection.ts'

export const storedBackupShape = object({
  v,
  ...backupShape.fields,
  id: branded<BackupId>(),
  uid: branded<DeploymentUid>(),
  /** The number of records that contain the content. */
  parts: integer(),
  /** SHA-256 of the content. */
  contentHash: string(),
  /** The number of the quota slot that the backup occupies. */
  slot: integer(),
  /** The version of each credential that is anchored to a volume, by label; absent if there is none. */
  anchored: optional(map(integer())),
})
export type StoredBackup = Infer<typeof storedBackupShape>

/** The content of a backup, which is cut into parts as JSON text. */
export const backupContentShape = object({
  v,
  spec: deploymentSpecShape,
  digest: optional(string()),
  scalingPolicy: optional(json<JsonObject>()),
  canary: optional(json<JsonObject>()),
  revisions: list(archiveEntryShape),
})
export type BackupContent = Infer<typeof backupContentShape>

/** Notes that the parts of a backup are being written. If it is old, the backup was never completed. */
export const backupDraftShape = object({ v, startedAt: string() })

export const backupPartShape = object({ v, text: string() })

export const backups = tenantCollection('bak', storedBackupShape, true)
export const backupDrafts = tenantCollection('bakdraft', backupDraftShape, true)
export const backupParts = tenantCollection('bakpart', backupPartShape, false)

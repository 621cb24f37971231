// Backups: copies of a deployment's configuration at one point in time. They name secrets and never contain values.

import type { BackupId } from '../ids.ts'
import type { JsonObject } from '../json/json.ts'
import {
  branded,
  described,
  field,
  type Infer,
  integer,
  json,
  list,
  object,
  optional,
  string,
} from '../shapes/shape.ts'
import { backupTexts } from '../texts/request-texts.ts'
import { deploymentSpecShape } from './deployment.ts'
import { archiveEntryShape } from './event.ts'

/** The body of POST /backups. */
export const newBackupShape = object({ deploymentName: field(backupTexts.deploymentName, string()) })

/** A backup without its content, as lists and writes return it. */
export const backupShape = object({
  id: branded<BackupId>({ description: 'Id of the backup' }),
  deploymentName: string({ description: 'Name of the deployment' }),
  createdAt: string({ description: 'When the backup was created, RFC 3339 in UTC' }),
  deploymentRevision: integer({ description: 'The revision of the deployment that a restore stores again' }),
  specHash: string({ description: 'Hash of the spec of that revision' }),
  revisionCount: integer({ description: 'How many archived revisions the backup contains' }),
  revisionsOmitted: integer({
    description:
      'How many of the oldest archived revisions were left out, because a backup has at most 16 MiB',
  }),
  sizeBytes: integer({ description: 'Size of the content' }),
})
export type Backup = Infer<typeof backupShape>

/** A whole backup, as GET /backups/{id} returns it. */
export const backupRecordShape = object({
  ...backupShape.fields,
  spec: deploymentSpecShape,
  digest: optional(
    string({ description: 'Digest of the image; absent if no registry had resolved the image' }),
  ),
  scalingPolicy: described('Scaling policy of the deployment; null without one', json<JsonObject | null>()),
  canary: described('State of the canary; null without one', json<JsonObject | null>()),
  revisions: list(archiveEntryShape),
})
export type BackupRecord = Infer<typeof backupRecordShape>

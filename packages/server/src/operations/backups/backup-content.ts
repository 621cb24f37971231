// The content of a backup: gathered from a deployment and its archive, and read back from the stored parts.

import { hash } from 'node:crypto'
import {
  type Backup,
  type BackupRecord,
  decodeOpen,
  defined,
  encodeShaped,
  type TenantId,
} from '@holdfast/contract'
import { fitRevisions, splitText } from '@holdfast/core'
import {
  archive,
  type BackupContent,
  backupContentShape,
  backupParts,
  type StoredBackup,
  type StoredDeployment,
} from '../../store/records.ts'
import { type Store, StoreUnavailableError } from '../../store/store.ts'
import { canaryView } from '../deployments/canary/end-canary.ts'
import { archiveView } from '../deployments/read/read-deployments.ts'
import { requirePersistable } from '../deployments/write/judge-secrets.ts'
import { archiveId } from '../deployments/write/store-deployment.ts'

const PART_BYTES = 256 * 1024
/** The most bytes of archived revisions in a backup. Older revisions are left out, and the record counts them. */
const MAX_REVISION_BYTES = 16 * 1024 ** 2

export interface CutContent {
  readonly parts: readonly string[]
  readonly contentHash: string
  readonly sizeBytes: number
  readonly revisionCount: number
  readonly revisionsOmitted: number
}

/** Undefined if the archive has changed since the deployment was read: the content would mix two points in time. */
export async function gatherContent(
  store: Pick<Store, 'keysOf' | 'read'>,
  tenant: TenantId,
  { spec, digest, revision, scaling, canary }: StoredDeployment,
): Promise<CutContent | undefined> {
  const kept = store
    .keysOf(archive, tenant)
    .filter(({ id }) => id.startsWith(`${spec.name}/`) && id <= archiveId(spec.name, revision))
    .toSorted((left, right) => (left.id < right.id ? -1 : 1))
  const fitting = fitRevisions(
    kept.map(({ bytes }) => bytes),
    MAX_REVISION_BYTES,
  )
  const keys = kept.slice(kept.length - fitting).map(({ key }) => key)
  const read = await store.read(archive, keys)
  const revisions = read.flatMap((entry) => (entry === undefined ? [] : [archiveView(entry)]))
  if (revisions.length < keys.length) return undefined
  // The guard of the encoder does not look into the text of a part.
  for (const each of [{ spec }, ...revisions]) requirePersistable(each.spec)
  const text = encodeShaped(backupContentShape, {
    v: 1,
    spec,
    revisions,
    ...defined({ digest: digest ?? undefined, scalingPolicy: scaling && { ...scaling.policy } }),
    ...canaryView(canary),
  })
  return {
    parts: splitText(text, PART_BYTES),
    contentHash: hash('sha256', text, 'hex'),
    sizeBytes: Buffer.byteLength(text),
    revisionCount: revisions.length,
    revisionsOmitted: kept.length - fitting,
  }
}

/** The id of a part. The number is padded with zeros, so that ids sort by number. */
export const partId = (backup: string, number: number): string =>
  `${backup}/${String(number).padStart(4, '0')}`

/** Undefined if the backup was deleted since its record was read. Throws if the parts are not those that were written. */
export async function readContent(
  store: Pick<Store, 'read' | 'keyspace'>,
  tenant: TenantId,
  { id, parts, contentHash }: StoredBackup,
): Promise<BackupContent | undefined> {
  const keys = Array.from({ length: parts }, (_, number) =>
    store.keyspace.tenantKey(tenant, backupParts.folder, partId(id, number)),
  )
  const read = await store.read(backupParts, keys)
  if (read.includes(undefined)) return undefined
  const text = read.map((part) => part?.text).join('')
  if (hash('sha256', text, 'hex') !== contentHash)
    throw new StoreUnavailableError(`the parts of backup ${id} differ from what was written`)
  return decodeOpen(backupContentShape, JSON.parse(text))
}

export function backupView(stored: StoredBackup): Backup {
  const {
    v: _version,
    uid: _uid,
    parts: _parts,
    contentHash: _hash,
    slot: _slot,
    anchored: _pins,
    ...shown
  } = stored
  return shown
}

export function backupRecord(
  stored: StoredBackup,
  { v: _version, scalingPolicy, canary, ...content }: BackupContent,
): BackupRecord {
  return {
    ...backupView(stored),
    ...content,
    scalingPolicy: scalingPolicy ?? null,
    canary: canary ?? null,
  }
}

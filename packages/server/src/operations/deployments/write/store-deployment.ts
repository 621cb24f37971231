// Stores one accepted revision of a deployment in the given transaction: the record, the claims of its routes,
// networks and credentials, the archive entry, the events and the audit entry.

import { hash } from 'node:crypto'
import { type DeploymentSpec, defined, type JsonObject } from '@holdfast/contract'
import { canonicalSpec } from '@holdfast/core'
import { archive, deployments, type StoredDeployment } from '../../../store/records.ts'
import { inTenant, type Transaction } from '../../../store/transaction.ts'
import { backupRestoredEvent } from '../../backups/backup-events.ts'
import type { RestoredBackup } from '../../backups/restored-backup.ts'
import type { Caller } from '../../caller.ts'
import { type NewEvent, recordAudit, recordEvent } from '../../record-write.ts'
import {
  claimCredentials,
  emitSecretWritten,
  labelsOf,
  type NewVersion,
} from '../../secrets/versions/claim-credentials.ts'
import { claimedSpec, endedEvent } from '../canary/end-canary.ts'
import type { DeploymentDeps } from '../deps.ts'
import { claimNetworks } from './claim-networks.ts'
import { claimRoutes } from './claim-routes.ts'
import { claimVolumes } from './claim-volumes.ts'
import { requirePersistable } from './judge-secrets.ts'

export interface SpecIdentity {
  /** SHA-256 of the canonical JSON of the stored spec, including secretsVersion. */
  readonly specHash: string
  readonly bytes: number
}

export function identifySpec(spec: DeploymentSpec): SpecIdentity {
  const text = canonicalSpec(spec)
  return { specHash: hash('sha256', text, 'hex'), bytes: Buffer.byteLength(text) }
}

/** The id of an archive entry. The revision is padded with zeros, so that ids sort by revision. */
export const archiveId = (name: string, revision: number): string =>
  `${name}/${String(revision).padStart(10, '0')}`

/** Why the revision exists, for the event and the audit entry. */
export interface RevisionCause {
  readonly verb: 'created' | 'updated' | 'restarted' | 'rolled_back' | 'restored' | 'promoted' | 'rotated'
  readonly message: string
  readonly data?: JsonObject
  /** Further facts for the audit entry. */
  readonly detail?: { readonly [name: string]: string }
}

export interface RevisionParts {
  readonly cause?: RevisionCause
  /** Secret versions that the revision pins and that no credential record lists yet. */
  readonly newVersions?: readonly NewVersion[]
  /** Why the digest of the image is still unknown; undefined if it is known. */
  readonly unresolved?: string | undefined
  /** The backup that the revision restores. */
  readonly backup?: RestoredBackup
}

export function storeRevision(
  deps: Pick<DeploymentDeps, 'clock' | 'archiveRevisions'>,
  transaction: Transaction,
  caller: Caller,
  stored: StoredDeployment,
  { cause = createdCause(stored), newVersions = [], unresolved, backup }: RevisionParts = {},
): void {
  requirePersistable(stored.spec)
  const { name } = stored.spec
  const address = inTenant(caller.tenant, deployments, name)
  const before = transaction.get(address)
  claimRoutes(transaction, caller.tenant, before, stored)
  claimVolumes(transaction, caller.tenant, before, stored)
  claimNetworks(transaction, caller.tenant, before?.spec, stored.spec)
  const claimed = before && claimedSpec(before)
  claimCredentials(transaction, caller.tenant, claimed, claimedSpec(stored), newVersions)
  transaction.put(address, stored)
  transaction.put(
    inTenant(caller.tenant, archive, archiveId(name, stored.revision)),
    archiveEntry(stored, caller),
  )
  const outdated = stored.revision - deps.archiveRevisions
  if (outdated > 0) transaction.delete(inTenant(caller.tenant, archive, archiveId(name, outdated)))
  const { verb, message, data = {} } = cause
  recordEvent(transaction, deps.clock, caller.tenant, {
    type: stored.revision === 1 ? 'deployment.created' : 'deployment.updated',
    severity: 'info',
    subject: { kind: 'Deployment', name, uid: stored.uid },
    cause: String(stored.revision),
    reason: verb,
    message,
    data: { revision: stored.revision, specHash: stored.specHash, ...data },
    ...defined({ place: unresolved === undefined ? undefined : 0 }),
  })
  if (unresolved !== undefined)
    recordEvent(transaction, deps.clock, caller.tenant, unreachable(stored, unresolved))
  const ended = endedEvent(before, stored)
  if (ended !== undefined) recordEvent(transaction, deps.clock, caller.tenant, ended)
  if (backup !== undefined)
    recordEvent(transaction, deps.clock, caller.tenant, backupRestoredEvent(backup, stored))
  for (const [label, namespace] of newVersions.length === 0 ? [] : labelsOf(stored.spec))
    for (const { version } of newVersions.filter((one) => one.label === label))
      emitSecretWritten(transaction, deps.clock, caller.tenant, { namespace, label }, version)
  const subject = { kind: 'Deployment', name }
  recordAudit(transaction, deps.clock, caller, {
    action: `deployments:${verb}`,
    subject,
    revision: stored.revision,
    ...detailOf(newVersions, backup, cause.detail),
  })
}

/** The second event of a revision whose image registry was unreachable; it is listed after the first event. */
function unreachable({ uid, revision, spec: { name, image } }: StoredDeployment, why: string): NewEvent {
  return {
    type: 'image.unreachable',
    severity: 'warning',
    subject: { kind: 'Deployment', name, uid },
    cause: String(revision),
    reason: 'registry_unreachable',
    message: why,
    data: { image, revision },
    place: 1,
  }
}

function detailOf(
  newVersions: readonly NewVersion[],
  backup: RestoredBackup | undefined,
  facts: RevisionCause['detail'],
) {
  const detail = defined({
    ...facts,
    secrets: newVersions.length === 0 ? undefined : newVersions.map(nameVersion).join(', '),
    backup: backup?.id,
  })
  return Object.keys(detail).length === 0 ? {} : { detail }
}

const nameVersion = ({ label, version }: NewVersion): string => `${label} version ${version}`

const createdCause = ({ spec, revision }: StoredDeployment): RevisionCause => ({
  verb: 'created',
  message: `Deployment ${spec.name} was created, revision ${revision}.`,
})

function archiveEntry(stored: StoredDeployment, { token, tokenName }: Caller) {
  const { uid, revision, specHash, updatedAt, spec, digest, tx } = stored
  return {
    v: 1,
    name: spec.name,
    uid,
    revision,
    specHash,
    createdAt: updatedAt,
    author: token,
    spec,
    tx,
    ...defined({ authorName: tokenName, digest: digest ?? undefined }),
  }
}

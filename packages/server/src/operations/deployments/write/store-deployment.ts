// What one accepted revision of a deployment writes: the record, the claims of its routes and of its credentials, its archive
// entry, its events and the audit entry, all in the transaction that was given. DESIGN 4, step 7.

import { hash } from 'node:crypto'
import type { DeploymentSpec, JsonObject } from '@holdfast/contract'
import { canonicalSpec } from '@holdfast/core'
import { archive, deployments, type StoredDeployment } from '../../../store/records.ts'
import { inTenant, type Transaction } from '../../../store/transaction.ts'
import type { Caller } from '../../caller.ts'
import { type NewEvent, recordAudit, recordEvent } from '../../record-write.ts'
import { type BroughtVersion, claimCredentials, labelsOf } from '../../secrets/versions/claim-credentials.ts'
import { emitSecretWritten } from '../../secrets/versions/emit-secret-written.ts'
import type { DeploymentDeps } from '../deps.ts'
import { claimRoutes } from './claim-routes.ts'
import { requirePersistable } from './judge-secrets.ts'

export interface SpecIdentity {
  /** DECISIONS 4: SHA-256 of the canonical JSON of the stored spec, secretsVersion included. */
  readonly specHash: string
  readonly bytes: number
}

export function identifySpec(spec: DeploymentSpec): SpecIdentity {
  const text = canonicalSpec(spec)
  return { specHash: hash('sha256', text, 'hex'), bytes: Buffer.byteLength(text) }
}

/** Sorted by text as by number, so that a range of the archive is in order. */
export const archiveId = (name: string, revision: number): string =>
  `${name}/${String(revision).padStart(10, '0')}`

/** What the caller asked for, as the event and the audit entry tell it. */
export interface Asked {
  readonly verb: 'created' | 'updated' | 'restarted' | 'rolled_back' | 'rotated'
  readonly message: string
  readonly data?: JsonObject
}

export interface RevisionParts {
  readonly asked?: Asked
  /** The versions that it pins and that no credential lists yet. */
  readonly brought?: readonly BroughtVersion[]
  /** Why no registry has said what its image is. */
  readonly unresolved?: string | undefined
}

export function storeRevision(
  deps: Pick<DeploymentDeps, 'clock' | 'archiveRevisions'>,
  transaction: Transaction,
  caller: Caller,
  stored: StoredDeployment,
  { asked = askedToCreate(stored), brought = [], unresolved }: RevisionParts = {},
): void {
  requirePersistable(stored.spec)
  const { name } = stored.spec
  const address = inTenant(caller.tenant, deployments, name)
  const before = transaction.get(address)
  claimRoutes(transaction, caller.tenant, before, stored)
  claimCredentials(transaction, caller.tenant, before?.spec, stored.spec, brought)
  transaction.put(address, stored)
  transaction.put(
    inTenant(caller.tenant, archive, archiveId(name, stored.revision)),
    archiveEntry(stored, caller),
  )
  const outdated = stored.revision - deps.archiveRevisions
  if (outdated > 0) transaction.delete(inTenant(caller.tenant, archive, archiveId(name, outdated)))
  const { verb, message, data = {} } = asked
  recordEvent(transaction, deps.clock, caller.tenant, {
    type: verb === 'created' ? 'deployment.created' : 'deployment.updated',
    severity: 'info',
    subject: { kind: 'Deployment', name, uid: stored.uid },
    cause: String(stored.revision),
    reason: verb,
    message,
    data: { revision: stored.revision, specHash: stored.specHash, ...data },
    ...(unresolved === undefined ? {} : { place: 0 }),
  })
  if (unresolved !== undefined)
    recordEvent(transaction, deps.clock, caller.tenant, unreachable(stored, unresolved))
  for (const [label, namespace] of brought.length === 0 ? [] : labelsOf(stored.spec))
    for (const { version } of brought.filter((one) => one.label === label))
      emitSecretWritten(transaction, deps.clock, caller.tenant, { namespace, label }, version)
  const subject = { kind: 'Deployment', name }
  recordAudit(transaction, deps.clock, caller, {
    action: `deployments:${verb}`,
    subject,
    revision: stored.revision,
    ...(brought.length === 0 ? {} : { detail: { secrets: brought.map(labelled).join(', ') } }),
  })
}

/** What it waits for from now on, behind what was asked. DECISIONS 3 (image) and 7. */
function unreachable({ uid, revision, spec: { name, image } }: StoredDeployment, why: string): NewEvent {
  return {
    ...{ type: 'image.unreachable', severity: 'warning', subject: { kind: 'Deployment', name, uid } },
    ...{ cause: String(revision), reason: 'registry_unreachable', message: why, place: 1 },
    data: { image, revision },
  }
}

const labelled = ({ label, version }: BroughtVersion): string => `${label} version ${version}`

const askedToCreate = ({ spec, revision }: StoredDeployment): Asked => ({
  verb: 'created',
  message: `Deployment ${spec.name} was created, revision ${revision}.`,
})

function archiveEntry(stored: StoredDeployment, { token }: Caller) {
  const { uid, revision, specHash, updatedAt, spec, digest, tx } = stored
  return {
    ...{ v: 1, name: spec.name, uid, revision, specHash, createdAt: updatedAt, author: token, spec, tx },
    ...(digest === null ? {} : { digest }),
  }
}

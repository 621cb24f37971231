// What one accepted revision of a deployment writes: the record, its archive entry, the event and the audit entry, all in
// the transaction that was given. DESIGN 4, step 7.

import { hash } from 'node:crypto'
import type { DeploymentSpec } from '@holdfast/contract'
import { canonicalSpec } from '@holdfast/core'
import { archive, deployments, type StoredDeployment } from '../../store/records.ts'
import { inTenant, type Transaction } from '../../store/transaction.ts'
import type { Caller } from '../caller.ts'
import { recordAudit, recordEvent } from '../record-write.ts'
import type { DeploymentDeps } from './deps.ts'

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

export function storeRevision(
  deps: Pick<DeploymentDeps, 'clock' | 'archiveRevisions'>,
  transaction: Transaction,
  caller: Caller,
  stored: StoredDeployment,
): void {
  const { name } = stored.spec
  transaction.put(inTenant(caller.tenant, deployments, name), stored)
  transaction.put(
    inTenant(caller.tenant, archive, archiveId(name, stored.revision)),
    archiveEntry(stored, caller),
  )
  const outdated = stored.revision - deps.archiveRevisions
  if (outdated > 0) transaction.delete(inTenant(caller.tenant, archive, archiveId(name, outdated)))
  const verb = stored.revision === 1 ? 'created' : 'updated'
  recordEvent(transaction, deps.clock, caller.tenant, {
    type: `deployment.${verb}`,
    severity: 'info',
    subject: { kind: 'Deployment', name, uid: stored.uid },
    cause: String(stored.revision),
    reason: verb,
    message: `Deployment ${name} was ${verb}, revision ${stored.revision}.`,
    data: { revision: stored.revision, specHash: stored.specHash },
  })
  const subject = { kind: 'Deployment', name }
  recordAudit(transaction, deps.clock, caller, {
    action: `deployments:${verb}`,
    subject,
    revision: stored.revision,
  })
}

function archiveEntry({ uid, revision, specHash, updatedAt, spec, tx }: StoredDeployment, { token }: Caller) {
  return { v: 1, name: spec.name, uid, revision, specHash, createdAt: updatedAt, author: token, spec, tx }
}

// What one accepted revision of a deployment writes: the record, the claims of its routes, its archive entry, the event and
// the audit entry, all in the transaction that was given. DESIGN 4, step 7.

import { hash } from 'node:crypto'
import type { DeploymentSpec, JsonObject } from '@holdfast/contract'
import { canonicalSpec } from '@holdfast/core'
import { archive, deployments, type StoredDeployment } from '../../store/records.ts'
import { inTenant, type Transaction } from '../../store/transaction.ts'
import type { Caller } from '../caller.ts'
import { recordAudit, recordEvent } from '../record-write.ts'
import { claimRoutes } from './claim-routes.ts'
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

/** What the caller asked for, as the event and the audit entry tell it. */
export interface Asked {
  readonly verb: 'created' | 'updated' | 'restarted' | 'rolled_back'
  readonly message: string
  readonly data?: JsonObject
}

export function storeRevision(
  deps: Pick<DeploymentDeps, 'clock' | 'archiveRevisions'>,
  transaction: Transaction,
  caller: Caller,
  stored: StoredDeployment,
  asked: Asked = askedToCreate(stored),
): void {
  const { name } = stored.spec
  const address = inTenant(caller.tenant, deployments, name)
  claimRoutes(transaction, caller.tenant, transaction.get(address), stored)
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
  })
  const subject = { kind: 'Deployment', name }
  recordAudit(transaction, deps.clock, caller, {
    action: `deployments:${verb}`,
    subject,
    revision: stored.revision,
  })
}

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

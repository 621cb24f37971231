// Records which deployments refer to which credential. A credential's record lists its consumers and exists as long as
// it lists a consumer or a version. The record changes in the transaction that changes the references in a deployment.

import { type Consumer, consumerOf, type DeploymentSpec, defined, type TenantId } from '@holdfast/contract'
import { type CredentialFact, credentialPath, newestUsable } from '@holdfast/core'
import type { Clock } from '../../../ports/clock.ts'
import { declassifyStored } from '../../../ports/taint.ts'
import { claimSlot, freeSlot } from '../../../quotas/hold-slot.ts'
import { credentials, type StoredCredential } from '../../../store/records.ts'
import { inTenant, type Transaction } from '../../../store/transaction.ts'
import { recordEvent } from '../../record-write.ts'
import { pathOf } from './version-uses.ts'

type Referring = Pick<DeploymentSpec, 'name' | 'secrets'>
type Version = StoredCredential['versions'][number]

/** The credentials that have a record, by label. */
export type Credentials = ReadonlyMap<string, StoredCredential>

/** A version that a write adds to a credential. `slot` is the quota slot, set only for the credential's first version. */
export interface NewVersion extends Version {
  readonly label: string
  readonly slot: number | undefined
}

/** The namespace of each secret label in a spec; within a tenant a label belongs to one namespace. */
export function labelsOf({ secrets }: Pick<DeploymentSpec, 'secrets'>): ReadonlyMap<string, string> {
  return new Map(
    secrets.map(({ vault_path }) => {
      const { namespace, label } = credentialPath(vault_path)
      return [label, namespace]
    }),
  )
}

/** Reads the credentials to which a spec refers. Each credential record is compared at commit. */
export function gatherCredentials(
  transaction: Transaction,
  tenant: TenantId,
  spec: Pick<DeploymentSpec, 'secrets'>,
): Credentials {
  const found = new Map<string, StoredCredential>()
  for (const label of labelsOf(spec).keys()) {
    const credential = transaction.get(inTenant(tenant, credentials, label))
    if (credential !== undefined) found.set(label, credential)
  }
  return found
}

export function credentialFacts(found: Credentials): ReadonlyMap<string, CredentialFact> {
  return new Map(
    [...found].map(([label, credential]) => {
      const { namespace, initial, versions, rotation } = credential
      const newest = newestUsable(versions, rotation?.new)
      const fact = { namespace, initial, newest: newest?.version ?? null }
      return [label, { ...fact, ...defined({ newestKeys: newest?.keys }) }]
    }),
  )
}

/**
 * Updates the credential records for a workload: adds it to credentials it refers to, removes it from those it no longer
 * refers to, and lists new versions. Unchanged records are not written.
 */
export function claimCredentials(
  transaction: Transaction,
  tenant: TenantId,
  before: Referring | undefined,
  spec: Referring,
  newVersions: readonly NewVersion[],
  consumer = consumerOf('deployment', spec.name),
): void {
  const now = labelsOf(spec)
  for (const label of before === undefined ? [] : labelsOf(before).keys())
    if (!now.has(label)) release(transaction, tenant, label, consumer)
  for (const [label, namespace] of now) {
    const address = inTenant(tenant, credentials, label)
    const stored = transaction.get(address)
    declassifyStored(stored)
    const version = newVersions.find((one) => one.label === label)
    if (stored?.consumers.includes(consumer) && version === undefined) continue
    const claimed = withConsumer(stored ?? newCredential(namespace, label), consumer)
    transaction.put(address, version === undefined ? claimed : withVersion(claimed, version))
    if (version?.slot !== undefined) claimSlot(transaction, tenant, 'secrets', version.slot, label)
  }
}

/** Removes a workload from all credential records when none of its containers can need secrets. */
export function releaseCredentials(
  transaction: Transaction,
  tenant: TenantId,
  spec: Referring,
  consumer = consumerOf('deployment', spec.name),
): void {
  for (const label of labelsOf(spec).keys()) release(transaction, tenant, label, consumer)
}

function release(transaction: Transaction, tenant: TenantId, label: string, consumer: Consumer): void {
  const address = inTenant(tenant, credentials, label)
  const stored = transaction.get(address)
  if (stored === undefined) return
  declassifyStored(stored)
  const consumers = stored.consumers.filter((each) => each !== consumer)
  if (consumers.length > 0 || stored.versions.length > 0) {
    transaction.put(address, { ...stored, consumers })
    return
  }
  transaction.delete(address)
  if (stored.slot !== null) freeSlot(transaction, tenant, 'secrets', stored.slot)
}

export const newCredential = (namespace: string, label: string): StoredCredential => ({
  v: 1,
  label,
  namespace,
  consumers: [],
  versions: [],
  initial: null,
  slot: null,
})

function withConsumer(credential: StoredCredential, consumer: Consumer): StoredCredential {
  const consumers = [...new Set([...credential.consumers, consumer])].sort()
  return { ...credential, consumers }
}

export function withVersion(
  credential: StoredCredential,
  { version, keys, createdAt, storedAt, bytes, slot }: NewVersion,
): StoredCredential {
  const versions = [
    ...credential.versions,
    { version, keys, createdAt, ...defined({ storedAt, bytes }) },
  ].sort((a, b) => a.version - b.version)
  return {
    ...credential,
    versions,
    initial: credential.initial ?? version,
    slot: credential.slot ?? slot ?? null,
  }
}

/** Emits the event of a new secret version. Some readers of events may not see key names, so the event contains none. */
export function emitSecretWritten(
  transaction: Transaction,
  clock: Clock,
  tenant: TenantId,
  credential: { readonly namespace: string; readonly label: string },
  version: number,
): void {
  const path = pathOf(credential)
  recordEvent(transaction, clock, tenant, {
    type: 'secret.written',
    severity: 'info',
    subject: { kind: 'Secret', name: path, uid: path },
    cause: String(version),
    reason: 'written',
    message: `Version ${version} of the secret ${path} was written.`,
    data: { path, version },
  })
}

// Who refers to which credential: each record names its deployments, and is there as long as one of them or a version is.
// It is written and taken away in the transaction that does the same to the references in the deployment's record (SAFETY 4a).

import type { DeploymentSpec, TenantId } from '@holdfast/contract'
import { type CredentialFact, credentialPath } from '@holdfast/core'
import { freeSlot, takeSlot } from '../../../quotas/hold-slot.ts'
import { credentials, type StoredCredential } from '../../../store/records.ts'
import { inTenant, type Transaction } from '../../../store/transaction.ts'
import { newestUnstaged } from './prune-versions.ts'

type Referring = Pick<DeploymentSpec, 'name' | 'secrets'>
type Version = StoredCredential['versions'][number]

/** By label, those that there are. */
export type Credentials = ReadonlyMap<string, StoredCredential>

/** A version that a deployment brings along; the slot where it is the credential's first. */
export interface BroughtVersion extends Version {
  readonly label: string
  readonly slot: number | undefined
}

/** The label of each path with its namespace; a label stands for one path in a tenant. */
export function labelsOf({ secrets }: Pick<DeploymentSpec, 'secrets'>): ReadonlyMap<string, string> {
  return new Map(
    secrets.map(({ vault_path }) => {
      const { namespace, label } = credentialPath(vault_path)
      return [label, namespace]
    }),
  )
}

/** Each record that is asked for is compared at commit. */
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
      const { namespace, initial } = credential
      return [label, { namespace, initial, newest: newestUnstaged(credential) ?? null }]
    }),
  )
}

/**
 * Adds the deployment to what it refers to now and takes it out of what it no longer does; lists the versions that it brings.
 * Writes only what changes: a deployment that keeps its references writes no credential.
 */
export function claimCredentials(
  transaction: Transaction,
  tenant: TenantId,
  before: Referring | undefined,
  spec: Referring,
  brought: readonly BroughtVersion[],
): void {
  const now = labelsOf(spec)
  for (const label of before === undefined ? [] : labelsOf(before).keys())
    if (!now.has(label)) release(transaction, tenant, label, spec.name)
  for (const [label, namespace] of now) {
    const address = inTenant(tenant, credentials, label)
    const stored = transaction.get(address)
    const version = brought.find((one) => one.label === label)
    if (stored?.consumers.includes(spec.name) && version === undefined) continue
    const claimed = withConsumer(stored ?? newCredential(namespace, label), spec.name)
    transaction.put(address, version === undefined ? claimed : withVersion(claimed, version))
    if (version?.slot !== undefined) takeSlot(transaction, tenant, 'secrets', version.slot, label)
  }
}

/** With the record of the deployment, and not before: until then a container of it may be made. */
export function releaseCredentials(transaction: Transaction, tenant: TenantId, spec: Referring): void {
  for (const label of labelsOf(spec).keys()) release(transaction, tenant, label, spec.name)
}

function release(transaction: Transaction, tenant: TenantId, label: string, name: string): void {
  const address = inTenant(tenant, credentials, label)
  const stored = transaction.get(address)
  if (stored === undefined) return
  const consumers = stored.consumers.filter((consumer) => consumer !== name)
  if (consumers.length > 0 || stored.versions.length > 0) {
    transaction.put(address, { ...stored, consumers })
    return
  }
  transaction.delete(address)
  if (stored.slot !== null) freeSlot(transaction, tenant, 'secrets', stored.slot)
}

export const newCredential = (namespace: string, label: string): StoredCredential => ({
  ...{ v: 1, label, namespace, consumers: [], versions: [], initial: null, slot: null },
})

function withConsumer(credential: StoredCredential, name: string): StoredCredential {
  const consumers = [...new Set([...credential.consumers, name])].sort()
  return { ...credential, consumers }
}

export function withVersion(
  credential: StoredCredential,
  { version, keys, createdAt, slot }: BroughtVersion,
): StoredCredential {
  const versions = [...credential.versions, { version, keys, createdAt }].sort(
    (a, b) => a.version - b.version,
  )
  return {
    ...credential,
    versions,
    initial: credential.initial ?? version,
    slot: credential.slot ?? slot ?? null,
  }
}

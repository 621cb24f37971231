// The lifecycle of one version number of a secret path (docs/design/secrets.md#version-lifecycle).
// Every version is written to two stores. The intent record in etcd shows that a write is not
// finished, so that any server replica can finish it after a crash.
//
//   state                in etcd                               in the secrets store      next state
//   intent               intent <path>/<n>                     absent or written         pinned, pending destruction
//   pinned               credential, rotation or registry      written                   pending destruction
//                        record lists n; no intent
//   pending destruction  intent destroy/<path>/<n>             absent, written, gone     destroyed
//   destroyed            nothing                               n is used up and gone     none: n is never used again
//
//   intent -> pinned               consumeIntent, in the transaction that lists the version (stage-version.ts writes it)
//   intent -> pending destruction  markForDestruction: the writer failed, or took longer than a minute
//   pinned -> pending destruction  markVersionsForDestruction: pruned, rotated out, or deleted with its credential
//   pending destruction -> destroyed  destroyStaged at once, otherwise retireVersionNumber from the sweep of intents
//
// A registry credential that is replaced goes from pinned back to intent, so that brokers can still read it for a minute.

import type { TenantId } from '@holdfast/contract'
import type { SecretPath } from '../../../ports/secrets-store.ts'
import { intents } from '../../../store/records.ts'
import { type Store, StoreUnavailableError } from '../../../store/store.ts'
import { globally, type Transaction } from '../../../store/transaction.ts'

/** A version written to the secrets store, with its intent in state `intent` or `pending destruction`. */
export interface StagedVersion {
  readonly path: SecretPath
  readonly version: number
  /** The time that the secrets store gave the version; absent if it is unknown. */
  readonly storedAt?: string
  /** The id of the version's intent. */
  readonly intent: string
}

export interface VersionNumber {
  readonly tenant: TenantId
  readonly namespace: string
  readonly resource: string
  readonly version: number
}

/** The namespace for intents of registry credentials. */
export const REGISTRIES = 'registries'

/** An intent record without the time of its creation. */
export function intentOf(tenant: TenantId, path: SecretPath, version: number) {
  const [namespace, resource] =
    'registryHost' in path ? [REGISTRIES, path.registryHost] : [path.namespace, path.label]
  return { v: 1, tenant, namespace, resource, version }
}

export function intentIdOf(tenant: TenantId, path: SecretPath, version: number): string {
  return idOf(intentOf(tenant, path, version))
}

/**
 * The id of an intent in `pending destruction`. It is a new id, so that a writer about to pin no longer finds its intent.
 */
export function destructionIdOf(tenant: TenantId, path: SecretPath, version: number): string {
  return destructionId(intentOf(tenant, path, version))
}

export const destructionId = (of: VersionNumber): string => `destroy/${idOf(of)}`

const idOf = ({ tenant, namespace, resource, version }: VersionNumber): string =>
  `${tenant}/${namespace}/${resource}/${version}`

export const secretPathOf = ({ namespace, resource }: VersionNumber): SecretPath =>
  namespace === REGISTRIES ? { registryHost: resource } : { namespace, label: resource }

/**
 * Deletes the intent in the transaction that pins the version. False if the version was abandoned: it must not be pinned.
 */
export function consumeIntent(transaction: Transaction, { intent }: Pick<StagedVersion, 'intent'>): boolean {
  const address = globally(intents, intent)
  if (transaction.get(address) === undefined) return false
  transaction.delete(address)
  return true
}

/**
 * Consumes only the first intent (the leader) of versions that are pinned together; abandoning any of them abandons the
 * leader. The transaction has no room for the other intents, so `endIntents` deletes those afterwards. Until then they
 * have no effect, because their versions are listed.
 */
export function consumeIntents(transaction: Transaction, [leader]: readonly StagedVersion[]): boolean {
  return leader === undefined || consumeIntent(transaction, leader)
}

/**
 * Deletes the intents of versions that are destroyed or pinned. If the store is unavailable, the sweep
 * of intents deletes them later.
 */
export async function endIntents(store: Store, versions: readonly StagedVersion[]): Promise<void> {
  if (versions.length === 0) return
  const ended = store.transact((transaction) => {
    for (const { intent } of versions) transaction.delete(globally(intents, intent))
    return { kind: 'commit', result: undefined }
  })
  await ended.catch((error: unknown) => {
    if (!(error instanceof StoreUnavailableError)) throw error
  })
}

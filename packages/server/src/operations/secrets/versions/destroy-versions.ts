// Destroys versions of secrets: those that were written but never pinned, and those that are no longer needed. Any server
// replica may repeat each step at any later time. intents.ts describes the states.

import type { Infer, TenantId } from '@holdfast/contract'
import { type Clock, timestamp } from '../../../ports/clock.ts'
import type { SecretPath, SecretsWriter } from '../../../ports/secrets-store.ts'
import {
  credentials,
  type intentShape,
  intents,
  registryCredentials,
  tenants,
} from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { globally, inTenant, type Transaction } from '../../../store/transaction.ts'
import {
  destructionId,
  destructionIdOf,
  endIntents,
  intentOf,
  REGISTRIES,
  type StagedVersion,
  secretPathOf,
  type VersionNumber,
} from './intents.ts'
import { gatherUses } from './version-uses.ts'

export interface DestroyDeps {
  readonly store: Store
  readonly secrets: Pick<SecretsWriter, 'currentVersion' | 'writeVersion' | 'destroyVersion'>
}

type Intent = Infer<typeof intentShape>

/**
 * Moves an intent to `pending destruction`, after which the version can no longer be pinned. Returns the new id of the
 * intent; undefined if there is no such intent, or if the intent was deleted because its version is in use.
 */
export async function markForDestruction(
  { store }: Pick<DestroyDeps, 'store'>,
  id: string,
): Promise<string | undefined> {
  await store.fresh()
  return store.transact<string | undefined>((transaction) => {
    const address = globally(intents, id)
    const intent = transaction.get(address)
    // If another server replica has ended or marked the intent, there is nothing to commit.
    if (intent === undefined) return { kind: 'abort', result: undefined }
    if (intent.pendingDestruction) return { kind: 'abort', result: id }
    if (isInUse(store, transaction, intent)) {
      transaction.delete(address)
      return { kind: 'commit', result: undefined }
    }
    // A write of several versions checks only the first intent (the leader), so abandoning any of them
    // abandons the leader.
    const { leader = id } = intent
    const leading = leader === id ? undefined : transaction.get(globally(intents, leader))
    if (leading !== undefined && !isInUse(store, transaction, leading)) mark(transaction, leader, leading)
    return { kind: 'commit', result: mark(transaction, id, intent) }
  })
}

function mark(transaction: Transaction, id: string, intent: Intent): string {
  const markedId = destructionId(intent)
  transaction.delete(globally(intents, id))
  transaction.put(globally(intents, markedId), { ...intent, pendingDestruction: true })
  return markedId
}

/** Whether a version is listed or pinned. Records are read through the transaction, so a concurrent pin is a conflict. */
function isInUse(store: Store, transaction: Transaction, of: VersionNumber): boolean {
  const { tenant, namespace, resource: label, version } = of
  if (namespace === REGISTRIES)
    return transaction.get(inTenant(tenant, registryCredentials, label))?.version === version
  const credential = transaction.get(inTenant(tenant, credentials, label))
  const bound = credential?.namespace === namespace ? credential : undefined
  const { rotation, versions = [] } = bound ?? {}
  if (versions.some((listed) => listed.version === version)) return true
  if (rotation?.new === version || rotation?.old === version) return true
  return gatherUses(store, tenant)({ namespace, label, initial: bound?.initial ?? null }).has(version)
}

/**
 * Writes the intents to destroy pinned versions, in the transaction after which those versions cannot be used. The caller
 * then passes the result to `destroyStaged`; if the caller crashes first, the sweep of intents destroys the versions.
 */
export function markVersionsForDestruction(
  transaction: Transaction,
  clock: Clock,
  tenant: TenantId,
  of: SecretPath,
  versions: readonly number[],
): StagedVersion[] {
  const path = 'registryHost' in of ? of : { namespace: of.namespace, label: of.label }
  const createdAt = timestamp(clock)
  return versions.map((version) => {
    const intent = destructionIdOf(tenant, path, version)
    transaction.put(globally(intents, intent), {
      ...intentOf(tenant, path, version),
      createdAt,
      pendingDestruction: true,
    })
    return { path, version, intent }
  })
}

/**
 * Destroys versions that no transaction will pin, and ends their intents. The sweep retries versions that cannot be
 * destroyed now. Must not be called while the outcome of the commit is unknown (docs/design/store.md#unknown-outcomes).
 */
export async function destroyStaged(
  { store, secrets }: DestroyDeps,
  tenant: TenantId,
  staged: readonly StagedVersion[],
): Promise<void> {
  const destroyed = await Promise.all(
    staged.map(
      async ({ path, version }) => (await secrets.destroyVersion(tenant, path, version)).kind === 'ok',
    ),
  )
  await endIntents(
    store,
    staged.filter((_, at) => destroyed[at]),
  )
}

/**
 * Destroys the version of an intent in `pending destruction`. If the version was never written, an
 * empty version is written first, so that no late or other write can get its number. The intent is
 * kept while the secrets store is unavailable.
 */
export async function retireVersionNumber({ store, secrets }: DestroyDeps, id: string): Promise<void> {
  await store.fresh()
  const intent = store.get(globally(intents, id))?.record
  if (!intent?.pendingDestruction) return
  // The secrets mount of a deleted tenant was deleted with all its versions.
  const gone = store.get(globally(tenants, intent.tenant)) === undefined
  if (!gone && !(await destroyForever(secrets, intent))) return
  await store.transact((transaction) => {
    transaction.delete(globally(intents, id))
    return { kind: 'commit', result: undefined }
  })
}

async function destroyForever(secrets: DestroyDeps['secrets'], of: VersionNumber): Promise<boolean> {
  const { tenant, version } = of
  const path = secretPathOf(of)
  const current = await secrets.currentVersion(tenant, path)
  if (current.kind !== 'ok' && current.kind !== 'absent') return false
  const newest = current.kind === 'ok' ? current.version : 0
  if (newest === version - 1) {
    const usedUp = await secrets.writeVersion(tenant, path, new Map(), newest)
    if (usedUp.kind !== 'ok' && usedUp.kind !== 'conflict') return false
  }
  return (await secrets.destroyVersion(tenant, path, version)).kind === 'ok'
}

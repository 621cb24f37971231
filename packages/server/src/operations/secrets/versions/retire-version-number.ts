// Giving up a version that nobody pinned. First its intent is turned into a condemned one, after which its writer can no longer
// pin it; then the number is used up in the store, by a version that holds nothing if there is none, so that neither a late
// write nor another writer can ever have it; then that version is destroyed; then the condemned intent goes. Each step may be
// repeated, by whoever finds the intent, at any later time. SAFETY 4a, step 6.

import type { Infer, TenantId } from '@holdfast/contract'
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
import { gatherUses } from './version-uses.ts'

export interface RetireDeps {
  readonly store: Store
  readonly secrets: Pick<SecretsWriter, 'currentVersion' | 'writeVersion' | 'destroyVersion'>
}

const REGISTRIES = 'registries'

type Intent = Infer<typeof intentShape>

interface Wanted {
  readonly tenant: TenantId
  readonly namespace: string
  readonly resource: string
  readonly version: number
}

/** All of an intent but its time. */
export function intentOf(tenant: TenantId, path: SecretPath, version: number) {
  const [namespace, resource] =
    'registryHost' in path ? [REGISTRIES, path.registryHost] : [path.namespace, path.label]
  return { v: 1, tenant, namespace, resource, version }
}

export function intentIdOf(tenant: TenantId, path: SecretPath, version: number): string {
  return idOf(intentOf(tenant, path, version))
}

/** Under another key than the intent itself: to whoever wants to pin, the intent is gone. */
export function destructionIdOf(tenant: TenantId, path: SecretPath, version: number): string {
  return `destroy/${intentIdOf(tenant, path, version)}`
}

const idOf = ({ tenant, namespace, resource, version }: Wanted): string =>
  `${tenant}/${namespace}/${resource}/${version}`

const pathOf = ({ namespace, resource }: Wanted): SecretPath =>
  namespace === REGISTRIES ? { registryHost: resource } : { namespace, label: resource }

/** The id of the condemned one; undefined where there is no such intent, or its version is in use: then only the intent goes. */
export async function markForDestruction(
  { store }: Pick<RetireDeps, 'store'>,
  id: string,
): Promise<string | undefined> {
  await store.fresh()
  return store.transact<string | undefined>((transaction) => {
    const address = globally(intents, id)
    const intent = transaction.get(address)
    if (intent === undefined) return { kind: 'abort', result: undefined }
    if (intent.pendingDestruction) return { kind: 'abort', result: id }
    if (isInUse(store, transaction, intent)) {
      transaction.delete(address)
      return { kind: 'commit', result: undefined }
    }
    // Whoever pins several together looks for the first of them only.
    const { leader = id } = intent
    const leading = leader === id ? undefined : transaction.get(globally(intents, leader))
    if (leading !== undefined && !isInUse(store, transaction, leading)) doom(transaction, leader, leading)
    return { kind: 'commit', result: doom(transaction, id, intent) }
  })
}

function doom(transaction: Transaction, id: string, intent: Intent): string {
  const pendingDestruction = `destroy/${idOf(intent)}`
  transaction.delete(globally(intents, id))
  transaction.put(globally(intents, pendingDestruction), { ...intent, pendingDestruction: true })
  return pendingDestruction
}

/** Whoever lists or pins it writes the record that is compared here. */
function isInUse(store: Store, transaction: Transaction, intent: Wanted): boolean {
  const { tenant, namespace, resource: label, version } = intent
  if (namespace === REGISTRIES)
    return transaction.get(inTenant(tenant, registryCredentials, label))?.version === version
  const credential = transaction.get(inTenant(tenant, credentials, label))
  const bound = credential?.namespace === namespace ? credential : undefined
  const { rotation, versions = [] } = bound ?? {}
  if (versions.some((listed) => listed.version === version)) return true
  if (rotation?.new === version || rotation?.old === version) return true
  return gatherUses(store, tenant)({ namespace, label, initial: bound?.initial ?? null }).has(version)
}

/** What a condemned intent asks for. While the secrets store is away it stays. */
export async function retireVersionNumber({ store, secrets }: RetireDeps, id: string): Promise<void> {
  await store.fresh()
  const intent = store.get(globally(intents, id))?.record
  if (!intent?.pendingDestruction) return
  // With the tenant went its mount, and everything in it.
  const gone = store.get(globally(tenants, intent.tenant)) === undefined
  if (!gone && !(await destroyForEver(secrets, intent))) return
  await store.transact((transaction) => {
    transaction.delete(globally(intents, id))
    return { kind: 'commit', result: undefined }
  })
}

async function destroyForEver(secrets: RetireDeps['secrets'], intent: Wanted): Promise<boolean> {
  const { tenant, version } = intent
  const path = pathOf(intent)
  const current = await secrets.currentVersion(tenant, path)
  if (current.kind !== 'ok' && current.kind !== 'absent') return false
  const newest = current.kind === 'ok' ? current.version : 0
  if (newest === version - 1) {
    const burnt = await secrets.writeVersion(tenant, path, new Map(), newest)
    if (burnt.kind !== 'ok' && burnt.kind !== 'conflict') return false
  }
  return (await secrets.destroyVersion(tenant, path, version)).kind === 'ok'
}

// The secrets mount of a new tenant is created before the tenant's record, in another store. Until the record is written,
// an intent in etcd shows that the mount belongs to no tenant, so that any server replica can remove it.
//
//   intent, tenant not written  -> tenant written, no intent    consumeMount, in the transaction that writes the tenant
//   intent, tenant not written  -> intent abandoned             the sweep, after a minute: the tenant can no longer be written
//   intent abandoned            -> no mount, no intent          the sweep removes the mount and then the intent
//
// Both transactions compare the intent, so the mount of a tenant that has a record is never removed.

import type { TenantId } from '@holdfast/contract'
import { type Clock, timestamp } from '../../ports/clock.ts'
import type { SecretsWriter } from '../../ports/secrets-store.ts'
import { newMounts, tenants } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { globally, type Transaction } from '../../store/transaction.ts'

export function announceMount(transaction: Transaction, clock: Clock, tenant: TenantId): void {
  transaction.put(globally(newMounts, tenant), { v: 1, tenant, createdAt: timestamp(clock) })
}

/** False if the mount was abandoned in the meantime: the tenant must not be written. */
export function consumeMount(transaction: Transaction, tenant: TenantId): boolean {
  const address = globally(newMounts, tenant)
  const intent = transaction.get(address)
  if (intent === undefined || intent.abandoned === true) return false
  transaction.delete(address)
  return true
}

export interface MountDeps {
  readonly store: Store
  readonly clock: Clock
  readonly secrets: Pick<SecretsWriter, 'removeTenant'>
}

/** Longer than the creation of a tenant may take, with all deadlines of its calls. */
const ABANDONED_AFTER_MS = 60_000

/** A failure with one mount does not stop the sweep of the others. All failures are thrown together at the end. */
export async function sweepMounts(deps: MountDeps): Promise<void> {
  const failures: unknown[] = []
  const old = deps.clock.now() - ABANDONED_AFTER_MS
  for (const { record } of deps.store.listWithIds(newMounts)) {
    if (record.abandoned !== true && Date.parse(record.createdAt) >= old) continue
    await removeMount(deps, record.tenant).catch((error: unknown) => failures.push(error))
  }
  if (failures.length > 0)
    throw new AggregateError(failures, `${failures.length} mounts could not be removed`)
}

async function removeMount({ store, secrets }: MountDeps, tenant: TenantId): Promise<void> {
  if (!(await abandon(store, tenant))) return
  const removed = await secrets.removeTenant(tenant)
  if (removed.kind !== 'ok') throw new Error(`the unused mount of tenant ${tenant} could not be removed`)
  await store.transact((transaction) => {
    transaction.delete(globally(newMounts, tenant))
    return { kind: 'commit', result: undefined }
  })
}

/** Whether the mount belongs to no tenant, now and for good. */
function abandon(store: Store, tenant: TenantId): Promise<boolean> {
  return store.transact<boolean>((transaction) => {
    const address = globally(newMounts, tenant)
    const intent = transaction.get(address)
    if (intent === undefined) return { kind: 'abort', result: false }
    if (transaction.get(globally(tenants, tenant)) !== undefined) {
      transaction.delete(address)
      return { kind: 'commit', result: false }
    }
    if (intent.abandoned === true) return { kind: 'abort', result: true }
    transaction.put(address, { ...intent, abandoned: true })
    return { kind: 'commit', result: true }
  })
}

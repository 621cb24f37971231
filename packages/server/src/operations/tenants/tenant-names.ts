// Names of tenants. A name belongs to one tenant at a time: each name has a key of its own, so that two tenants cannot claim it
// at once. A path may name a tenant by its name, so a name never has the form of an id.

import { isTenantId, type Rejection, type TenantId } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import { type StoredTenant, tenantNames, tenants } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { globally, type Transaction } from '../../store/transaction.ts'

/** The tenant with an id or name; undefined if there is none. */
export function findTenant(store: Pick<Store, 'get' | 'list'>, idOrName: string): TenantId | undefined {
  if (isTenantId(idOrName)) return store.get(globally(tenants, idOrName))?.record.id
  const claimed = store.get(globally(tenantNames, idOrName))?.record.tenant
  const holder = claimed && store.get(globally(tenants, claimed))?.record
  return holder?.name === idOrName ? holder.id : listedByName(store, idOrName)?.id
}

/** A server of an older version creates tenants without claiming their names. */
const listedByName = (store: Pick<Store, 'list'>, name: string): StoredTenant | undefined =>
  store.list(tenants).find(({ record }) => record.name === name)?.record

/** Rejects a name that another tenant has, before anything is created for a new one. */
export async function checkNameFree(
  store: Pick<Store, 'get' | 'list' | 'fresh'>,
  name: string,
): Promise<Rejection | undefined> {
  if (findTenant(store, name) === undefined) return undefined
  await store.fresh()
  return findTenant(store, name) === undefined ? undefined : exists(name)
}

/** Claims a name in the transaction that stores the tenant with it. Returns a rejection if another tenant has the name. */
export function claimTenantName(
  store: Pick<Store, 'list'>,
  transaction: Transaction,
  name: string,
  tenant: TenantId,
): Rejection | undefined {
  const address = globally(tenantNames, name)
  const holder = transaction.get(address)?.tenant
  const isHeld = holder !== undefined && transaction.get(globally(tenants, holder))?.name === name
  const other = isHeld ? holder : listedByName(store, name)?.id
  if (other !== undefined && other !== tenant) return exists(name)
  if (holder !== tenant) transaction.put(address, { v: 1, tenant })
  return undefined
}

/** Releases a name that the tenant no longer has. */
export function releaseTenantName(transaction: Transaction, name: string, tenant: TenantId): void {
  const address = globally(tenantNames, name)
  if (transaction.get(address)?.tenant === tenant) transaction.delete(address)
}

const exists = (name: string): Rejection => reject('tenant_exists', 'name', name)

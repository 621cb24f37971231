// The handle that a transaction callback gets: the only one that can write (DESIGN 4). Each read registers its compare by
// itself, so that nobody can forget one (SAFETY 4a, no write skew).

import type { TenantId, TransactionId } from '@holdfast/contract'
import type { Compare } from '../ports/key-value.ts'
import { encodeRecord } from './encode.ts'
import type { PreparedTransaction, Write } from './group-commit.ts'
import type { Keyspace } from './keys.ts'
import type { RecordIndex } from './record-index.ts'
import { audit, type Collection, cancels } from './records.ts'

/** A tenant's record, or a global one where the tenant is absent. */
export interface Address<T> {
  readonly collection: Collection<T>
  readonly tenant?: TenantId
  readonly id: string
}

export const inTenant = <T>(tenant: TenantId, collection: Collection<T>, id: string): Address<T> => ({
  tenant,
  collection,
  id,
})
export const globally = <T>(collection: Collection<T>, id: string): Address<T> => ({ collection, id })

export interface Transaction {
  readonly id: TransactionId
  /** From the cache, compared at commit; of cached collections only. */
  get<T>(address: Address<T>): T | undefined
  /** For a collection that is not cached: commit only if there is no such record. False where one is known already. */
  requireAbsent(address: Address<unknown>): boolean
  put<T>(address: Address<T>, record: T): void
  delete(address: Address<unknown>): void
  /** All records of a folder whose id begins with `within` and a slash. */
  deleteWithin(tenant: TenantId, collection: Collection<unknown>, within: string): void
  /** Everything under the tenant. */
  deleteTenant(tenant: TenantId): void
}

export interface StagedTransaction extends PreparedTransaction {
  readonly id: TransactionId
  /** The key whose presence proves the commit: the audit entry, which no other transaction writes. */
  readonly receipt?: string
}

export interface OpenTransaction extends Transaction {
  staged(): StagedTransaction
}

export function openTransaction(id: TransactionId, index: RecordIndex, keyspace: Keyspace): OpenTransaction {
  const compares = new Map<string, Compare>()
  const writes = new Map<string, Write>()
  let receipt: string | undefined
  const keyOf = (address: Address<unknown>) => addressKey(keyspace, address)
  const cancelled = keyspace.globalKey(cancels.folder, id)
  compares.set(cancelled, absent(cancelled))

  return {
    id,
    get(address) {
      const found = index.get(address.collection, address.tenant, address.id)
      const key = keyOf(address)
      compares.set(
        key,
        found === undefined
          ? absent(key)
          : { key, target: 'modRevision', is: 'equal', value: found.modRevision },
      )
      return found?.record
    },
    requireAbsent(address) {
      const key = keyOf(address)
      compares.set(key, absent(key))
      const { tenant, collection, id: name } = address
      return (
        index.find({ folder: collection.folder, id: name, ...(tenant === undefined ? {} : { tenant }) }) ===
        undefined
      )
    },
    put(address, record) {
      const key = keyOf(address)
      if (address.collection.folder === audit.folder) receipt = key
      writes.set(key, { kind: 'put', key, value: encodeRecord(address.collection, record) })
    },
    delete(address) {
      const key = keyOf(address)
      writes.set(key, { kind: 'delete', key })
    },
    deleteWithin(tenant, collection, within) {
      const range = keyspace.folderOf(tenant, collection.folder, within)
      writes.set(range.key, { kind: 'delete', ...range })
    },
    deleteTenant(tenant) {
      const range = keyspace.wholeTenant(tenant)
      writes.set(range.key, { kind: 'delete', ...range })
    },
    staged: () => ({
      id,
      compares: [...compares.values()],
      writes: [...writes.values()],
      ...(receipt === undefined ? {} : { receipt }),
    }),
  }
}

function addressKey(keyspace: Keyspace, { collection, tenant, id }: Address<unknown>): string {
  const owned = collection.scope === 'tenant'
  if (owned !== (tenant !== undefined))
    throw new TypeError(`${collection.folder} is a ${collection.scope} collection`)
  return tenant === undefined
    ? keyspace.globalKey(collection.folder, id)
    : keyspace.tenantKey(tenant, collection.folder, id)
}

function absent(key: string): Compare {
  return { key, target: 'version', is: 'equal', value: 0 }
}

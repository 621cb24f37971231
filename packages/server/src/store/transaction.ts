// The handle that a transaction callback gets; all writes go through it. Each read through the handle is compared at
// commit, so no caller can forget a compare, and write skew is impossible (docs/design/store.md#transactions).

import { defined, type Owner, type TenantId, type TransactionId } from '@holdfast/contract'
import type { Compare } from '../ports/key-value.ts'
import type { RecordIndex } from './cache/record-index.ts'
import type { PreparedTransaction, Write } from './commit/group-commit.ts'
import { encodeRecord, formOf, UnstorableRecordError } from './encode.ts'
import type { Keyspace } from './keys.ts'
import {
  AUDIT_COLLECTIONS,
  accessAudit,
  audit,
  type Collection,
  cancels,
  FORMAT_ID,
  formats,
  placements,
  type StoredPlacement,
} from './records.ts'

/** The folders of audit entries that exactly one transaction writes. */
const RECEIPTS: readonly string[] = [audit.folder, accessAudit.folder]
const AUDITED: readonly string[] = AUDIT_COLLECTIONS.map(({ folder }) => folder)

/** The address of a tenant's record, or of a global record if the tenant is absent. */
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

/** The address of an owner's placement. A placement has no other address, so that no uid is mistaken for an owner. */
export const placementAt = (tenant: TenantId, owner: Owner): Address<StoredPlacement> =>
  inTenant(tenant, placements, owner)

export interface Transaction {
  readonly id: TransactionId
  /**
   * Reads a record from the cache; the record is compared at commit. Only for cached collections. Writes of this
   * transaction are not visible. Throws UnreadableRecordError for a record that exists but cannot be decoded.
   */
  get<T>(address: Address<T>): T | undefined
  /** Makes the commit fail if the record exists; for collections without cached values. Returns false if it exists. */
  requireAbsent(address: Address<unknown>): boolean
  put<T>(address: Address<T>, record: T): void
  delete(address: Address<unknown>): void
  /** Deletes all records of a collection whose id begins with `within` and a slash. */
  deleteWithin(tenant: TenantId, collection: Collection<unknown>, within: string): void
  /** Deletes all records under the keys of a tenant; global records remain. */
  deleteTenant(tenant: TenantId): void
}

export interface StagedTransaction extends PreparedTransaction {
  readonly id: TransactionId
  /** The key whose presence proves the commit: the key of the audit entry, which only one transaction writes. */
  readonly receipt?: string
  /** The audit entries that the transaction writes, encoded. */
  readonly audited: readonly Uint8Array[]
}

export interface OpenTransaction extends Transaction {
  staged(): StagedTransaction
}

/** Thrown for a stored value without the shape of its collection, which only a manual change in etcd can cause. */
export class UnreadableRecordError extends Error {
  override readonly name = 'UnreadableRecordError'
}

/** Reads a record like `get`, but returns `otherwise` if it is unreadable; such a record is not compared at commit. */
export function getOr<T, U>(transaction: Transaction, address: Address<T>, otherwise: U): T | U | undefined {
  try {
    return transaction.get(address)
  } catch (error) {
    if (error instanceof UnreadableRecordError) return otherwise
    throw error
  }
}

/** The records that a transaction reads: the cache, or an overlay of it in a dry run. */
export type ReadIndex = Pick<RecordIndex, 'get' | 'find'>

export function openTransaction(id: TransactionId, index: ReadIndex, keyspace: Keyspace): OpenTransaction {
  const compares = new Map<string, Compare>()
  const writes = new Map<string, Write>()
  const audited: Uint8Array[] = []
  let receipt: string | undefined
  const keyOf = (address: Address<unknown>) => addressKey(keyspace, address)
  const cancelled = keyspace.globalKey(cancels.folder, id)
  const compare = (one: Compare) => compares.set(`${one.target} ${one.key}`, one)
  compare(absent(cancelled))

  return {
    id,
    get(address) {
      const key = keyOf(address)
      if (!address.collection.cached) throw new TypeError(`${address.collection.folder} is not cached`)
      const found = index.get(address.collection, address.tenant, address.id)
      if (found !== undefined) compare(unchanged(key, found.modRevision))
      else if (exists(index, address)) throw new UnreadableRecordError(key)
      else compare(absent(key))
      return found?.record
    },
    requireAbsent(address) {
      const key = keyOf(address)
      compare(absent(key))
      return !exists(index, address)
    },
    put(address, record) {
      const key = keyOf(address)
      requireWritten(index, address, formOf(record))
      const value = encodeRecord(address.collection, record)
      if (RECEIPTS.includes(address.collection.folder)) receipt = key
      if (AUDITED.includes(address.collection.folder)) audited.push(value)
      writes.set(key, { kind: 'put', key, value })
    },
    delete(address) {
      const key = keyOf(address)
      writes.set(key, { kind: 'delete', key })
    },
    deleteWithin(tenant, collection, within) {
      const range = keyspace.folderOf(tenant, collection.folder, within)
      writes.set(`${range.key} ${range.rangeEnd}`, { kind: 'delete', ...range })
    },
    deleteTenant(tenant) {
      const range = keyspace.wholeTenant(tenant)
      writes.set(`${range.key} ${range.rangeEnd}`, { kind: 'delete', ...range })
    },
    staged: () => ({
      id,
      compares: [...compares.values()],
      writes: [...writes.values()],
      audited,
      ...defined({ receipt }),
    }),
  }
}

/** Throws for a record of a form that is not written yet, because a live server replica cannot read that form. */
function requireWritten(index: ReadIndex, { collection }: Address<unknown>, form: number): void {
  if (form <= 1) return
  const writes = index.get(formats, undefined, FORMAT_ID)?.record.writes ?? 1
  if (form > writes)
    throw new UnstorableRecordError(
      `${collection.folder}: form ${form} is not written before all servers read it`,
    )
}

export function addressKey(keyspace: Keyspace, { collection, tenant, id }: Address<unknown>): string {
  const owned = collection.scope === 'tenant'
  if (owned !== (tenant !== undefined))
    throw new TypeError(`${collection.folder} is a ${collection.scope} collection`)
  return tenant === undefined
    ? keyspace.globalKey(collection.folder, id)
    : keyspace.tenantKey(tenant, collection.folder, id)
}

/** Whether a record exists, even if its value cannot be decoded. */
export function exists(
  index: Pick<RecordIndex, 'find'>,
  { collection: { folder }, tenant, id }: Address<unknown>,
): boolean {
  return index.find(tenant === undefined ? { folder, id } : { tenant, folder, id }) !== undefined
}

function unchanged(key: string, modRevision: number): Compare {
  return { key, target: 'modRevision', is: 'equal', value: modRevision }
}

function absent(key: string): Compare {
  return { key, target: 'version', is: 'equal', value: 0 }
}

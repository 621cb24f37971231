// A store over another one, for dry runs: reads fall through to the base, writes stay in memory and are visible to later
// reads. Nothing reaches etcd (docs/design/admission.md#dry-runs). Records that planning writes are kept as objects,
// because a plan of a hundred replicas reads records tens of thousands of times.

import { asTransactionId, type TenantId } from '@holdfast/contract'
import type { IdSource } from '../ports/clock.ts'
import { type CachedRecord, type Change, isCounted, type SizedKey } from './cache/record-index.ts'
import type { Write } from './commit/group-commit.ts'
import { decodeRecord } from './encode.ts'
import type { ParsedKey } from './keys.ts'
import { newestForm } from './records/collection.ts'
import { COLLECTIONS, type Collection } from './records.ts'
import type { Store, TransactionDecision } from './store.ts'
import { type Address, openTransaction, type ReadIndex, type Transaction } from './transaction.ts'

export interface OverlayStore extends Store {
  /** `bytes` is the size of the encoded record, for the byte quota; 0 for a record that no write encoded. */
  put<T>(address: Address<T>, record: T, bytes?: number): void
  delete(address: Address<unknown>): void
  /** Calls the listeners once, after `work`, with all its changes. */
  batch(work: () => void): void
  /** Every record that was written, whether or not it still exists. */
  written(): readonly ParsedKey[]
  /** Copies every written record to `other`, as one batch. */
  copyTo(other: OverlayStore): void
}

interface Entry {
  /** Undefined if the record was deleted. */
  readonly cached: CachedRecord<unknown> | undefined
  readonly bytes: number
  /** True for a record that was only read: it hides later changes of the base, so that all reads agree. */
  readonly isRead: boolean
}

type TenantScope = TenantId | undefined

interface State {
  readonly base: Store
  readonly folders: Map<TenantScope, Map<string, Map<string, Entry>>>
  readonly listeners: Set<(changes: readonly Change[]) => void>
  /** True once the base was confirmed to be current, or a record was written; a dry run decides on one view. */
  isFresh: boolean
  /** The changes of the open batch; undefined if no batch is open. */
  open: Change[] | undefined
  revision: number
}

const BY_FOLDER = new Map(COLLECTIONS.map((collection) => [collection.folder, collection]))

export function createOverlayStore(base: Store, ids: Pick<IdSource, 'ulid'>): OverlayStore {
  const state: State = {
    base,
    folders: new Map(),
    listeners: new Set(),
    isFresh: false,
    open: undefined,
    revision: base.revision,
  }
  const get = <T>(address: Address<T>) => getRecord(state, address)
  const overlay: OverlayStore = {
    keyspace: base.keyspace,
    forms: base.forms,
    finalize: base.finalize,
    fail: base.fail,
    get clusterId() {
      return base.clusterId
    },
    get fault() {
      return base.fault
    },
    get revision() {
      return state.revision
    },
    get,
    has: (address) => hasRecord(state, address),
    list: (collection, tenant) =>
      idsOf(state, collection, tenant).flatMap((id) => get(addressOf(collection, tenant, id)) ?? []),
    listWithIds: (collection) =>
      idsOf(state, collection, undefined).flatMap((id) => {
        const found = get({ collection, id })
        return found === undefined ? [] : [{ ...found, id }]
      }),
    keysOf: (collection, tenant) => keysOf(state, collection, tenant),
    storedBytes: (tenant) => base.storedBytes(tenant) + addedBytes(state, tenant),
    bytesOf: (collection, tenant) =>
      keysOf(state, collection, tenant).reduce((sum, { bytes }) => sum + bytes, 0),
    fresh: () => base.fresh(),
    read: (collection, keys) => readRecords(state, collection, keys),
    transact: (decide) => transact(state, ids, decide),
    subscribe(listener) {
      state.listeners.add(listener)
      return () => state.listeners.delete(listener)
    },
    close: () => {},
    put: (address, record, bytes = 0) => write(state, address, { record, bytes }),
    delete: (address) => write(state, address, undefined),
    batch: (work) => batch(state, work),
    written: () => [...writtenEntries(state)].map(([key]) => key),
    copyTo: (other) => copy(state, other),
  }
  return overlay
}

const addressOf = <T>(collection: Collection<T>, tenant: TenantScope, id: string): Address<T> =>
  tenant === undefined ? { collection, id } : { collection, tenant, id }

const entryOf = ({ folders }: State, { collection, tenant, id }: Address<unknown>): Entry | undefined =>
  folders.get(tenant)?.get(collection.folder)?.get(id)

function hasRecord(state: State, address: Address<unknown>): boolean {
  const known = entryOf(state, address)
  return known === undefined ? state.base.has(address) : known.cached !== undefined
}

function getRecord<T>(state: State, address: Address<T>): CachedRecord<T> | undefined {
  const known = entryOf(state, address)
  // A folder has records of one collection only, so the cast is safe.
  if (known !== undefined) return known.cached as CachedRecord<T> | undefined
  const cached = state.base.get(address)
  if (cached !== undefined) keep(state, address, { cached, bytes: 0, isRead: true })
  return cached
}

function keep(
  { folders }: State,
  { collection: { folder }, tenant, id }: Address<unknown>,
  entry: Entry,
): void {
  const owned = folders.get(tenant) ?? new Map<string, Map<string, Entry>>()
  folders.set(tenant, owned)
  const entries = owned.get(folder) ?? new Map<string, Entry>()
  owned.set(folder, entries)
  entries.set(id, entry)
}

/** Revisions continue above those of the base, which may have grown since the overlay was created. */
function write<T>(
  state: State,
  address: Address<T>,
  written: { readonly record: T; readonly bytes: number } | undefined,
): void {
  state.isFresh = true
  state.revision = Math.max(state.revision, state.base.revision) + 1
  const cached = written && { record: written.record, modRevision: state.revision }
  keep(state, address, { cached, bytes: written?.bytes ?? 0, isRead: false })
  const { collection, tenant, id } = address
  const key: ParsedKey = { ...(tenant === undefined ? {} : { tenant }), folder: collection.folder, id }
  batch(state, () => state.open?.push({ kind: written === undefined ? 'delete' : 'put', key }))
}

function batch(state: State, work: () => void): void {
  if (state.open !== undefined) {
    work()
    return
  }
  const changes: Change[] = []
  state.open = changes
  try {
    work()
  } finally {
    state.open = undefined
  }
  if (changes.length > 0) for (const listener of state.listeners) listener(changes)
}

function idsOf({ base, folders }: State, collection: Collection<unknown>, tenant: TenantScope): string[] {
  const known = tenant === undefined ? base.listWithIds(collection) : base.keysOf(collection, tenant)
  const over = folders.get(tenant)?.get(collection.folder)
  return [...new Set([...known.map(({ id }) => id), ...(over?.keys() ?? [])])]
}

function keysOf(state: State, collection: Collection<unknown>, tenant: TenantId): SizedKey[] {
  const { base, folders, revision } = state
  const over = folders.get(tenant)?.get(collection.folder)
  const below = base.keysOf(collection, tenant).filter(({ id }) => over?.get(id)?.isRead !== false)
  const above = [...(over ?? [])].filter(([, { cached, isRead }]) => !isRead && cached !== undefined)
  return [
    ...below,
    ...above.map(([id, { bytes }]) => {
      const key = state.base.keyspace.tenantKey(tenant, collection.folder, id)
      return { id, key, bytes, createRevision: revision }
    }),
  ]
}

function addedBytes({ folders }: State, tenant: TenantId): number {
  let sum = 0
  for (const [folder, entries] of folders.get(tenant) ?? [])
    if (isCounted(folder)) for (const { bytes } of entries.values()) sum += bytes
  return sum
}

async function readRecords<T>(
  state: State,
  collection: Collection<T>,
  keys: readonly string[],
): Promise<(T | undefined)[]> {
  const below = await state.base.read(collection, keys)
  return keys.map((key, at) => {
    const { tenant, id = '' } = state.base.keyspace.parse(key) ?? {}
    const known = entryOf(state, addressOf(collection, tenant, id))
    return known === undefined ? below[at] : (known.cached?.record as T | undefined)
  })
}

/** Makes the base current, and forgets what was read of it before, as a real transaction reads its records again. */
async function becomeFresh(state: State): Promise<void> {
  if (!state.isFresh) await state.base.fresh()
  if (!state.isFresh) state.folders.clear()
  state.isFresh = true
}

/** Decides on a view that was current at the first transaction. No other writer can interfere, so there is no retry. */
async function transact<R>(
  state: State,
  ids: Pick<IdSource, 'ulid'>,
  decide: (transaction: Transaction) => TransactionDecision<R>,
): Promise<R> {
  await becomeFresh(state)
  for (;;) {
    const transaction = openTransaction(asTransactionId(ids.ulid()), indexOf(state), state.base.keyspace)
    const decision = decide(transaction)
    if (decision.kind === 'abort') return decision.result
    if (decision.kind === 'wait') await decision.until
    else {
      batch(state, () => {
        for (const each of transaction.staged().writes) apply(state, each)
      })
      return decision.result
    }
  }
}

function indexOf(state: State): ReadIndex {
  return {
    get: (collection, tenant, id) => getRecord(state, addressOf(collection, tenant, id)),
    find: ({ tenant, folder, id }) => {
      const collection = BY_FOLDER.get(folder)
      if (collection === undefined) return undefined
      const address = addressOf(collection, tenant, id)
      if (!hasRecord(state, address)) return undefined
      return { modRevision: entryOf(state, address)?.cached?.modRevision ?? 0 }
    },
  }
}

function apply(state: State, operation: Write): void {
  if (operation.kind === 'delete' && operation.rangeEnd !== undefined) {
    deleteRange(state, operation.key, operation.rangeEnd)
    return
  }
  const parsed = state.base.keyspace.parse(operation.key)
  const collection = parsed && BY_FOLDER.get(parsed.folder)
  if (parsed === undefined || collection === undefined) return
  const address = addressOf(collection, parsed.tenant, parsed.id)
  if (operation.kind === 'delete') write(state, address, undefined)
  else {
    const bytes = operation.key.length + operation.value.byteLength
    write(state, address, {
      record: decodeRecord(collection, operation.value, newestForm(state.base.forms)),
      bytes,
    })
  }
}

/** Deletes the records of a tenant in a range of keys. Ranges never include global records. */
function deleteRange(state: State, from: string, to: string): void {
  const { keyspace } = state.base
  const tenant = keyspace.parse(`${from}x/`)?.tenant ?? keyspace.parse(`${from}x/x/`)?.tenant
  if (tenant === undefined) return
  for (const collection of COLLECTIONS)
    if (collection.scope === 'tenant')
      for (const id of idsOf(state, collection, tenant)) {
        const key = keyspace.tenantKey(tenant, collection.folder, id)
        if (key >= from && key < to) write(state, addressOf(collection, tenant, id), undefined)
      }
}

function* writtenEntries({ folders }: State): Generator<[ParsedKey, Entry]> {
  for (const [tenant, owned] of folders)
    for (const [folder, entries] of owned)
      for (const [id, entry] of entries)
        if (!entry.isRead) yield [{ ...(tenant === undefined ? {} : { tenant }), folder, id }, entry]
}

function copy(state: State, other: OverlayStore): void {
  other.batch(() => {
    for (const [{ tenant, folder, id }, { cached, bytes }] of writtenEntries(state)) {
      const collection = BY_FOLDER.get(folder)
      if (collection === undefined) continue
      const address = addressOf(collection, tenant, id)
      if (cached === undefined) other.delete(address)
      else other.put(address, cached.record, bytes)
    }
  })
}

// The store: typed records of tenants, optimistic transactions over the cache, and group commit. Operations and loops
// access etcd only through this store (docs/design/store.md).

import { type AuditEntry, asTransactionId, type TenantId } from '@holdfast/contract'
import { sleep } from '../lib/sleep.ts'
import { inSlices } from '../lib/slices.ts'
import type { Clock, IdSource } from '../ports/clock.ts'
import type { KeyValue, KeyValueEngine, OperationResult } from '../ports/key-value.ts'
import { type Cache, startCache } from './cache/cache.ts'
import { createCurrentRevision } from './cache/freshness.ts'
import type {
  CachedRecord,
  Change,
  Decoding,
  OnUnreadable,
  RecordIndex,
  SizedKey,
} from './cache/record-index.ts'
import { type Committer, createCommitter } from './commit/committer.ts'
import type { GroupCommitOptions } from './commit/group-commit.ts'
import { decodeRecord } from './encode.ts'
import { epochAddress, guardEpoch } from './epoch.ts'
import { formatAddress, NewerFormatError } from './format.ts'
import { guardHistory } from './history-guard.ts'
import { createKeyspace, type Keyspace } from './keys.ts'
import { findLostHeartbeats } from './listed-chains.ts'
import type { Finalize } from './next-format.ts'
import { FORMS, newestForm, type RecordForm } from './records/collection.ts'
import { audit, type Collection } from './records.ts'
import type { OnRestored, RestoredStoreError } from './restored.ts'
import { retryUntil, withEngineDeadline } from './retry-until.ts'
import { type Address, addressKey, exists, openTransaction, type Transaction } from './transaction.ts'
import { asUnavailable, StoreUnavailableError } from './unavailable.ts'

export { StoreUnavailableError } from './unavailable.ts'

/**
 * The result of a transaction callback, which may be called several times and must have no side effects. `commit` writes.
 * `abort` writes nothing and returns `result`, a rejection or a success without changes, once the callback has aborted on
 * a current cache. `wait` calls the callback again when the promise `until` is settled.
 */
export type TransactionDecision<R> =
  | { readonly kind: 'commit'; readonly result: R }
  | { readonly kind: 'abort'; readonly result: R }
  | { readonly kind: 'wait'; readonly until: Promise<void> }

export interface Store {
  readonly keyspace: Keyspace
  /** The etcd revision up to which the cache is complete. */
  readonly revision: number
  /** The id of the etcd cluster; undefined if the engine has no such id. */
  readonly clusterId: string | undefined
  /** Why this process must not use the store any longer; undefined while it may. */
  readonly fault: string | undefined
  /** Ends the use of the store, because another check has found that etcd was restored. */
  fail(error: RestoredStoreError): void
  /** The forms of records that this process reads. */
  readonly forms: readonly RecordForm[]
  /** Whether the servers raise the form in which records are written, or an operator. */
  readonly finalize: Finalize
  /** Reads a record from the cache, which may lag; call `fresh` first if the result must be current. */
  get<T>(address: Address<T>): CachedRecord<T> | undefined
  /** Whether the cache has the record, even if its value cannot be decoded. */
  has(address: Address<unknown>): boolean
  list<T>(collection: Collection<T>, tenant?: TenantId): CachedRecord<T>[]
  /** The records of a global collection with their ids. */
  listWithIds<T>(collection: Collection<T>): (CachedRecord<T> & { readonly id: string })[]
  keysOf(collection: Collection<unknown>, tenant: TenantId): readonly SizedKey[]
  /** Size of the records that the tenant has written, for its byte quota. */
  storedBytes(tenant: TenantId): number
  /** Size of all records of a collection. */
  bytesOf(collection: Collection<unknown>, tenant: TenantId): number
  /** Resolves when the cache contains every write that any server replica acknowledged before this call. */
  fresh(): Promise<void>
  /** Reads records from etcd, for collections without cached values; undefined for absent or unreadable records. */
  read<T>(collection: Collection<T>, keys: readonly string[]): Promise<(T | undefined)[]>
  transact<R>(decide: (transaction: Transaction) => TransactionDecision<R>): Promise<R>
  subscribe(listener: (changes: readonly Change[]) => void): () => void
  close(): void
}

export interface StoreOptions {
  readonly engine: KeyValueEngine
  readonly clock: Clock
  readonly ids: IdSource
  readonly onUnreadable: OnUnreadable
  /** Called once, when etcd was restored or has another epoch. All later calls of the store throw StoreUnavailableError. */
  readonly onRestored?: OnRestored
  readonly root?: string
  /** The forms of records that this process reads. Only tests give forms of another version. */
  readonly forms?: readonly RecordForm[]
  /** Whether the servers raise the form in which records are written, or an operator; default: the servers. */
  readonly finalize?: Finalize
  /** Called once, when the store is written in a form that this process cannot read. All later calls of the store throw. */
  readonly onNewerFormat?: (error: NewerFormatError) => void
  /** Called with each audit entry that a transaction of this process has stored. It must not throw. */
  readonly onAudited?: (entry: AuditEntry) => void
  readonly groupCommit?: Partial<GroupCommitOptions>
  /** How many milliseconds a transaction or a fresh read may retry. Settling an unknown outcome may take longer. */
  readonly deadlineMs?: number
}

const MAX_BACKOFF_MS = 200
/** Time to settle an unknown outcome: enough for a leader election in etcd and one request that is lost during it. */
const SETTLE_MS = 5_000
const READ_AT_ONCE = 100

export async function openStore(options: StoreOptions): Promise<Store> {
  const { deadlineMs = 10_000, forms = FORMS, finalize = 'auto', onUnreadable } = options
  const reads = newestForm(forms)
  const history = guardHistory(options.engine, options.onRestored)
  const { engine } = history
  const keyspace = createKeyspace(options.root)
  const accepts = (before: RecordIndex, listed: RecordIndex): boolean => {
    const lost = findLostHeartbeats(before, listed)
    if (lost !== undefined) history.fail(lost)
    return history.fault === undefined
  }
  const cache = await startCache(engine, keyspace, { reads, onUnreadable }, accepts)
  const format = guardFormat(cache, reads, options.onNewerFormat)
  const epoch = guardEpoch(cache, history.fail)
  const requireUsable = (): void => {
    history.require()
    format.require()
  }
  const currentRevision = createCurrentRevision(engine, addressKey(keyspace, epochAddress), epoch.check)
  const committer = createCommitter({
    ...options,
    engine,
    keyspace,
    settleMs: Math.min(SETTLE_MS, deadlineMs),
  })

  const freshUntil = async (until: number): Promise<void> => {
    const revision = await withEngineDeadline(until, retryUntil(currentRevision, until, 'repeatable'))
    requireUsable()
    await cache.waitFor(revision, until - performance.now())
  }
  const fresh = (until = performance.now() + deadlineMs) => freshUntil(until).catch(asUnavailable)
  const context = { ...options, reads, cache, keyspace, committer, requireUsable, fresh, deadlineMs }
  return {
    keyspace,
    forms,
    finalize,
    fail: history.fail,
    get clusterId() {
      return history.clusterId
    },
    get fault() {
      return history.fault
    },
    get revision() {
      return cache.revision
    },
    get: ({ collection, tenant, id }) => cache.index.get(collection, tenant, id),
    has: (address) => exists(cache.index, address),
    list: (collection, tenant) => cache.index.list(collection, tenant),
    listWithIds: (collection) => listWithIds(cache, collection),
    keysOf: (collection, tenant) => cache.index.keysOf(collection, tenant),
    storedBytes: (tenant) => cache.index.storedBytes(tenant),
    bytesOf: (collection, tenant) => cache.index.bytesOf(collection, tenant),
    fresh: () => fresh(),
    async read(collection, keys) {
      const values = await readValues(
        { engine, reads, onUnreadable },
        collection,
        keys,
        performance.now() + deadlineMs,
      )
      requireUsable()
      return values
    },
    transact: (decide) => transact(context, decide),
    subscribe: cache.subscribe,
    close: () => cache.close(),
  }
}

/**
 * Checks which form the store is written in, now and after each change of the format record. Throws at once if the
 * process cannot read that form. If the form changes later, calls `onNewerFormat`, and `require` throws from then on.
 */
function guardFormat(
  cache: Cache,
  reads: number,
  onNewerFormat: (error: NewerFormatError) => void = () => {},
): { require(): void } {
  const { collection, id } = formatAddress
  const check = (): NewerFormatError | undefined => {
    const format = cache.index.get(collection, undefined, id)?.record
    return format !== undefined && format.writes > reads ? new NewerFormatError(format, reads) : undefined
  }
  let fault = check()
  if (fault !== undefined) {
    cache.close()
    throw fault
  }
  cache.subscribe((changes) => {
    if (fault !== undefined || !changes.some(({ key }) => key.folder === collection.folder)) return
    fault = check()
    if (fault !== undefined) onNewerFormat(fault)
  })
  return {
    require() {
      if (fault !== undefined) throw new StoreUnavailableError(fault.message)
    },
  }
}

function listWithIds<T>(
  { index }: Cache,
  collection: Collection<T>,
): (CachedRecord<T> & { readonly id: string })[] {
  return index.keysOf(collection, undefined).flatMap(({ id }) => {
    const found = index.get(collection, undefined, id)
    return found === undefined ? [] : [{ ...found, id }]
  })
}

interface StoreContext extends Pick<StoreOptions, 'ids' | 'onAudited'> {
  readonly cache: Cache
  readonly keyspace: Keyspace
  readonly committer: Committer
  readonly requireUsable: () => void
  readonly reads: number
  readonly deadlineMs: number
  fresh(until: number): Promise<void>
}

/**
 * Runs a transaction. After a conflict, waits until the cache contains the winning write, and calls the callback again.
 */
async function transact<R>(
  context: StoreContext,
  decide: (transaction: Transaction) => TransactionDecision<R>,
): Promise<R> {
  const until = performance.now() + context.deadlineMs
  let current = false
  for (let attempt = 0; performance.now() < until; attempt += 1) {
    context.requireUsable()
    const transaction = openTransaction(
      asTransactionId(context.ids.ulid()),
      context.cache.index,
      context.keyspace,
    )
    // The commit compares the epoch, so a store that was declared restored accepts no write of this process.
    transaction.get(epochAddress)
    const decision = decide(transaction)
    if (decision.kind === 'abort' && current) return decision.result
    current = decision.kind === 'abort'
    if (decision.kind === 'abort') await context.fresh(until)
    if (decision.kind === 'wait') await withEngineDeadline(until, decision.until).catch(asUnavailable)
    if (decision.kind === 'commit') {
      const staged = transaction.staged()
      const verdict = await context.committer.commit(staged, until)
      if (verdict.kind === 'committed') {
        if (context.onAudited !== undefined)
          for (const entry of staged.audited) context.onAudited(auditEntryOf(entry, context.reads))
        return decision.result
      }
      await context.cache.waitFor(verdict.revision, until - performance.now()).catch(asUnavailable)
      // etcd compared the records after this transaction began, so a cache at the revision of the refusal is current
      // enough for an abort.
      current = verdict.kind === 'refused'
      if (attempt > 1) await sleep(Math.random() * Math.min(MAX_BACKOFF_MS, 2 ** attempt))
    }
  }
  throw new StoreUnavailableError('the transaction met a conflict in every attempt')
}

function auditEntryOf(bytes: Uint8Array, reads: number): AuditEntry {
  const { v: _version, ...entry } = decodeRecord(audit, bytes, reads)
  return entry
}

async function readValues<T>(
  { engine, ...decoding }: Pick<StoreOptions, 'engine'> & Decoding,
  collection: Collection<T>,
  keys: readonly string[],
  until: number,
): Promise<(T | undefined)[]> {
  const values: (T | undefined)[] = []
  const recordOf = (result: OperationResult): T | undefined => {
    const kv = result.kind === 'range' ? result.range.kvs[0] : undefined
    return kv === undefined ? undefined : readable(collection, kv, decoding)
  }
  for (let from = 0; from < keys.length; from += READ_AT_ONCE) {
    const success = keys.slice(from, from + READ_AT_ONCE).map((key) => ({ kind: 'range' as const, key }))
    const ask = () => engine.transact({ compares: [], success, failure: [] })
    const { results } = await withEngineDeadline(until, retryUntil(ask, until, 'repeatable')).catch(
      asUnavailable,
    )
    values.push(...(await inSlices(mapEach(results, recordOf))))
  }
  return values
}

/** Decoding a hundred records takes milliseconds, in which no other request would be served. */
function* mapEach<From, To>(all: readonly From[], map: (one: From) => To): Generator<undefined, To[]> {
  const mapped: To[] = []
  for (const one of all) {
    mapped.push(map(one))
    yield
  }
  return mapped
}

function readable<T>(
  collection: Collection<T>,
  kv: KeyValue,
  { reads, onUnreadable }: Decoding,
): T | undefined {
  try {
    return decodeRecord(collection, kv.value, reads)
  } catch (error) {
    onUnreadable(kv.key, error)
    return undefined
  }
}

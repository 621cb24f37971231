// The store: typed records of tenants, optimistic transactions over the cache, group commit underneath. What operations
// and loops see of etcd is this and nothing else.

import type { TenantId, TransactionId } from '@holdfast/contract'
import type { Clock, IdSource } from '../ports/clock.ts'
import { timestamp } from '../ports/clock.ts'
import { EngineError, type KeyValueEngine } from '../ports/key-value.ts'
import { type Cache, startCache } from './cache.ts'
import { decodeRecord } from './encode.ts'
import { createCurrentRevision } from './freshness.ts'
import { createGroupCommit, type GroupCommitOptions, type Verdict } from './group-commit.ts'
import { createKeyspace, type Keyspace } from './keys.ts'
import type { CachedRecord, Change, IndexedKey, OnUnreadable } from './record-index.ts'
import type { Collection } from './records.ts'
import { CacheBehindError } from './revision-gate.ts'
import { settleUnknown } from './settle-unknown.ts'
import { type Address, openTransaction, type StagedTransaction, type Transaction } from './transaction.ts'

/**
 * What a transaction callback decides on what it read. It may be called several times and must have no other effect.
 * `refuse` is confirmed on a current view before it is said; `wait` is for something local that will pass.
 */
export type Decision<R> =
  | { readonly kind: 'commit'; readonly result: R }
  | { readonly kind: 'refuse'; readonly result: R }
  | { readonly kind: 'wait'; readonly until: Promise<void> }

export interface Store {
  readonly keyspace: Keyspace
  /** The revision that the cache has reached. */
  readonly revision: number
  /** From the cache as it is; call `fresh` first where the answer must be current. */
  get<T>(address: Address<T>): CachedRecord<T> | undefined
  list<T>(collection: Collection<T>, tenant?: TenantId): CachedRecord<T>[]
  /** Of a global collection, with the id that each record is kept under. */
  listWithIds<T>(collection: Collection<T>): (CachedRecord<T> & { readonly id: string })[]
  keysOf(collection: Collection<unknown>, tenant: TenantId): readonly IndexedKey[]
  storedBytes(tenant: TenantId): number
  /** Everything acknowledged before this call, by whichever replica, is in the cache when it resolves. */
  fresh(): Promise<void>
  /** From the engine, at most some dozens: for collections that the cache holds no values of. */
  read<T>(collection: Collection<T>, keys: readonly string[]): Promise<(T | undefined)[]>
  transact<R>(decide: (transaction: Transaction) => Decision<R>): Promise<R>
  subscribe(listener: (changes: readonly Change[]) => void): () => void
  close(): void
}

/** The store did not answer in time. Whether the write happened is known to be no, or not known. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError'
}

export interface StoreOptions {
  readonly engine: KeyValueEngine
  readonly clock: Clock
  readonly ids: IdSource
  readonly onUnreadable: OnUnreadable
  readonly root?: string
  readonly groupCommit?: Partial<GroupCommitOptions>
  /** How long one transaction or one fresh read may take, retries included. */
  readonly deadlineMs?: number
}

const RETRY_MS = 20
const MAX_BACKOFF_MS = 200
const READ_AT_ONCE = 100

export async function openStore(options: StoreOptions): Promise<Store> {
  const { engine, deadlineMs = 10_000 } = options
  const keyspace = createKeyspace(options.root)
  const cache = await startCache(engine, keyspace, options.onUnreadable)
  const currentRevision = createCurrentRevision(engine, keyspace.globalKey('fresh', 'probe'))
  const committer = createCommitter(options, keyspace)

  const fresh = async (): Promise<void> => {
    const until = performance.now() + deadlineMs
    const revision = await insist(currentRevision, until)
    await cache.waitFor(revision, until - performance.now()).catch(asUnavailable)
  }
  return {
    keyspace,
    get revision() {
      return cache.revision
    },
    get: ({ collection, tenant, id }) => cache.index.get(collection, tenant, id),
    list: (collection, tenant) => cache.index.list(collection, tenant),
    listWithIds: (collection) => listWithIds(cache, collection),
    keysOf: (collection, tenant) => cache.index.keysOf(collection, tenant),
    storedBytes: (tenant) => cache.index.storedBytes(tenant),
    fresh,
    read: (collection, keys) => readValues(engine, collection, keys, performance.now() + deadlineMs),
    transact: (decide) =>
      transact({ cache, keyspace, committer, fresh, ids: options.ids, deadlineMs }, decide),
    subscribe: cache.subscribe,
    close: () => cache.close(),
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

interface Running {
  readonly cache: Cache
  readonly keyspace: Keyspace
  readonly committer: Committer
  readonly ids: IdSource
  readonly deadlineMs: number
  fresh(): Promise<void>
}

/** From step 3 on a conflict (DESIGN 4): the view is brought past what was lost against, and the callback decides anew. */
async function transact<R>(running: Running, decide: (transaction: Transaction) => Decision<R>): Promise<R> {
  const until = performance.now() + running.deadlineMs
  let current = false
  for (let attempt = 0; performance.now() < until; attempt += 1) {
    const transaction = openTransaction(
      running.ids.ulid() as TransactionId,
      running.cache.index,
      running.keyspace,
    )
    const decision = decide(transaction)
    if (decision.kind === 'refuse' && current) return decision.result
    if (decision.kind === 'refuse') await running.fresh()
    if (decision.kind === 'wait') await decision.until
    if (decision.kind === 'commit') {
      const verdict = await running.committer.commit(transaction.staged(), until)
      if (verdict.kind === 'committed') return decision.result
      await running.cache.waitFor(verdict.revision, until - performance.now()).catch(asUnavailable)
      if (attempt > 1) await pause(Math.random() * Math.min(MAX_BACKOFF_MS, 2 ** attempt))
    }
    current = decision.kind !== 'wait'
  }
  throw new StoreUnavailableError('the transaction met a conflict at every try')
}

interface Committer {
  commit(staged: StagedTransaction, until: number): Promise<Verdict>
}

function createCommitter({ engine, clock, groupCommit }: StoreOptions, keyspace: Keyspace): Committer {
  const group = createGroupCommit(engine, groupCommit)
  return {
    async commit(staged, until) {
      try {
        return await insist(() => group.submit(staged), until)
      } catch (error) {
        const { receipt } = staged
        const lost = error instanceof EngineError && error.applied === 'unknown'
        if (!lost || receipt === undefined) throw unavailable(error)
        const settled = { ...staged, receipt }
        return insist(
          () => settleUnknown(engine, keyspace, settled, timestamp(clock)),
          until,
          'settling',
        ).catch(asUnavailable)
      }
    },
  }
}

/**
 * Tries again while the engine says that nothing was applied. An unknown outcome is handed on at once, except where
 * asking twice changes nothing.
 */
async function insist<R>(
  attempt: () => Promise<R>,
  until: number,
  mode: 'once' | 'settling' = 'once',
): Promise<R> {
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof EngineError) || !isPassing(error, mode) || performance.now() > until) throw error
      await pause(RETRY_MS)
    }
  }
}

function isPassing(error: EngineError, mode: 'once' | 'settling'): boolean {
  const away = error.reason === 'unavailable' || error.reason === 'deadline'
  return away && (mode === 'settling' || error.applied === 'no')
}

async function readValues<T>(
  engine: KeyValueEngine,
  collection: Collection<T>,
  keys: readonly string[],
  until: number,
): Promise<(T | undefined)[]> {
  const values: (T | undefined)[] = []
  for (let from = 0; from < keys.length; from += READ_AT_ONCE) {
    const success = keys.slice(from, from + READ_AT_ONCE).map((key) => ({ kind: 'range' as const, key }))
    const request = { compares: [], success, failure: [] }
    const { results } = await insist(() => engine.transact(request), until, 'settling').catch(asUnavailable)
    for (const result of results) {
      const kv = result.kind === 'range' ? result.range.kvs[0] : undefined
      values.push(kv === undefined ? undefined : decodeRecord(collection, kv.value))
    }
  }
  return values
}

function unavailable(error: unknown): unknown {
  const ours = error instanceof EngineError || error instanceof CacheBehindError
  return ours ? new StoreUnavailableError(error.message, { cause: error }) : error
}

function asUnavailable(error: unknown): never {
  throw unavailable(error)
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

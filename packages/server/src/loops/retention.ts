// Deletes records that are kept for a limited time: events, decisions, audit entries, idempotent answers and cancel
// marks. These records are never changed after they are written, so deleting one twice, or by two server replicas, is
// harmless. See docs/design/store.md#retention

import type { TenantId } from '@holdfast/contract'
import type { Clock } from '../ports/clock.ts'
import type { IndexedKey, SizedKey } from '../store/cache/record-index.ts'
import {
  AUDIT_COLLECTIONS,
  accessAudit,
  audit,
  type Collection,
  cancels,
  decisionParts,
  decisions,
  events,
  idempotentAnswers,
  readAudit,
  tenants,
} from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { globally, inTenant } from '../store/transaction.ts'
import { DECISION_BOUNDS, retainDecisions } from './retain-decisions.ts'

export interface Retention {
  readonly events: { readonly days: number; readonly max: number; readonly bytes: number }
  readonly audit: { readonly days: number; readonly max: number }
}

export interface RetentionDeps {
  readonly store: Store
  readonly clock: Clock
  readonly retention: Retention
}

/** Limit of records that are read at once, and of records that one transaction deletes. */
const AT_ONCE = 100
/** The most steps in which expired responses of one tenant are deleted: more than it can have made in a minute. */
const MOST_STEPS = 50
const DAY_MS = 24 * 3_600_000
/** How long cancel marks are kept: far longer than a paused etcd member can delay a request. */
const CANCEL_KEPT_MS = DAY_MS
const MIB = 1024 ** 2
/** The most bytes of audit entries of a tenant. Each kind has its own, so that reading displaces no entry of a write. */
const AUDIT_BYTES = [
  [audit, 8 * MIB],
  [accessAudit, 4 * MIB],
  [readAudit, 4 * MIB],
] as const
/** The most bytes of responses that are kept for the idempotency keys of a tenant. */
export const ANSWER_BYTES = 16 * 1024 ** 2

export async function applyRetention(deps: RetentionDeps): Promise<void> {
  const { store, clock, retention } = deps
  // The cache is refreshed first: a server replica that was suspended would delete the wrong records.
  await store.fresh()
  await dropCancels(deps)
  const isOlder = (time: string, days: number) => Date.parse(time) < clock.now() - days * DAY_MS
  for (const { record } of store.list(tenants)) {
    const { events: ofEvents, audit: ofAudit } = retention
    await dropOld(store, record.id, events, ofEvents.max, ({ time }) => isOlder(time, ofEvents.days))
    for (const collection of AUDIT_COLLECTIONS)
      await dropOld(store, record.id, collection, ofAudit.max, ({ time }) => isOlder(time, ofAudit.days))
    const isPast = ({ expiresAt }: { expiresAt: string }) => Date.parse(expiresAt) < clock.now()
    await dropPast(store, record.id, isPast)
    await retainDecisions(store, record.id, clock.now())
  }
}

/**
 * Limits the bytes of the records that the platform keeps about each tenant, because they are no part of its byte quota. A
 * limit on their number is not enough: one record may be as large as a transaction. Call this function more often than
 * `applyRetention`.
 */
export async function boundBytes({ store, clock, retention }: RetentionDeps): Promise<void> {
  for (const { record } of store.list(tenants)) {
    const ofDecisions = store.bytesOf(decisions, record.id) + store.bytesOf(decisionParts, record.id)
    if (ofDecisions > DECISION_BOUNDS.bytes) await retainDecisions(store, record.id, clock.now())
    await dropBeyond(store, record.id, events, retention.events.bytes)
    for (const [collection, most] of AUDIT_BYTES) await dropBeyond(store, record.id, collection, most)
    await dropBeyond(store, record.id, idempotentAnswers, ANSWER_BYTES)
  }
}

/** Deletes the oldest records until the others have at most so many bytes. */
async function dropBeyond(
  store: Store,
  tenant: TenantId,
  collection: Collection<unknown>,
  most: number,
): Promise<void> {
  let excess = store.bytesOf(collection, tenant) - most
  if (excess <= 0) return
  const keys = inOrder(store, tenant, collection)
  const first = keys.findIndex(({ bytes }) => {
    const kept = excess <= 0
    excess -= bytes
    return kept
  })
  await dropFirst(store, tenant, collection, keys, first < 0 ? keys.length : first)
}

/** The keys of records, oldest first. Keys of one revision are ordered by text, the order that event cursors rely on. */
function inOrder(store: Store, tenant: TenantId, collection: Collection<unknown>): readonly SizedKey[] {
  return store
    .keysOf(collection, tenant)
    .toSorted((left, right) => left.createRevision - right.createRevision || (left.key < right.key ? -1 : 1))
}

/** Deletes expired responses, of which a busy tenant has more in a minute than one step deletes. */
async function dropPast(
  store: Store,
  tenant: TenantId,
  isPast: (record: { expiresAt: string }) => boolean,
): Promise<void> {
  for (let steps = 0; steps < MOST_STEPS; steps += 1) {
    const dropped = await dropOld(store, tenant, idempotentAnswers, Number.POSITIVE_INFINITY, isPast)
    if (dropped < AT_ONCE) return
    await store.fresh()
  }
}

async function dropOld<T>(
  store: Store,
  tenant: TenantId,
  collection: Collection<T>,
  max: number,
  isOld: (record: T) => boolean,
): Promise<number> {
  const keys = inOrder(store, tenant, collection)
  const oldest = keys.slice(0, AT_ONCE).map(({ key }) => key)
  const records = await store.read(collection, oldest)
  const firstKept = records.findIndex((record) => record !== undefined && !isOld(record))
  // The age of an unreadable record is unknown. Such a record is deleted only together with a newer expired record.
  const old = records
    .slice(0, firstKept < 0 ? records.length : firstKept)
    .findLastIndex((record) => record !== undefined)
  const count = Math.max(old + 1, keys.length - max)
  await dropFirst(store, tenant, collection, keys, count)
  return count
}

/**
 * Deletes the oldest records. Records of one revision are deleted together, so that a client that continues after a kept
 * event misses none.
 */
async function dropFirst(
  store: Store,
  tenant: TenantId,
  collection: Collection<unknown>,
  keys: readonly IndexedKey[],
  count: number,
): Promise<void> {
  const last = keys[count - 1]?.createRevision
  const dropped = last === undefined ? [] : keys.filter(({ createRevision }) => createRevision <= last)
  for (let from = 0; from < dropped.length; from += AT_ONCE)
    await deleteAll(store, tenant, collection, dropped.slice(from, from + AT_ONCE))
}

async function deleteAll(
  store: Store,
  tenant: TenantId,
  collection: Collection<unknown>,
  keys: readonly IndexedKey[],
): Promise<void> {
  await store.transact((transaction) => {
    for (const { id } of keys) transaction.delete(inTenant(tenant, collection, id))
    return { kind: 'commit', result: undefined }
  })
}

async function dropCancels({ store, clock }: RetentionDeps): Promise<void> {
  const old = store
    .listWithIds(cancels)
    .filter(({ record }) => Date.parse(record.at) < clock.now() - CANCEL_KEPT_MS)
  if (old.length === 0) return
  await store.transact((transaction) => {
    for (const { id } of old.slice(0, AT_ONCE)) transaction.delete(globally(cancels, id))
    return { kind: 'commit', result: undefined }
  })
}

// What is kept for a time only: events, audit entries, answers to Idempotency-Keys, cancel marks. DECISIONS 6. All of them
// are written once and never changed, so deleting one twice, or by two replicas, is harmless.

import type { TenantId } from '@holdfast/contract'
import type { Clock } from '../ports/clock.ts'
import type { IndexedKey } from '../store/record-index.ts'
import { audit, type Collection, cancels, events, idempotentAnswers, tenants } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { globally, inTenant } from '../store/transaction.ts'

export interface Retention {
  readonly events: { readonly days: number; readonly max: number }
  readonly audit: { readonly days: number; readonly max: number }
}

export interface RetentionDeps {
  readonly store: Store
  readonly clock: Clock
  readonly retention: Retention
}

/** Removed in one transaction at the most; the next turn takes the next ones. */
const AT_ONCE = 100
const DAY_MS = 24 * 3_600_000
/** Far longer than any request can stay on its way to a member that was paused. */
const CANCEL_KEPT_MS = DAY_MS

export async function applyRetention(deps: RetentionDeps): Promise<void> {
  await dropCancels(deps)
  for (const { record } of deps.store.list(tenants)) {
    const { store, clock, retention } = deps
    const olderThan = (days: number) => clock.now() - days * DAY_MS
    await dropOld(
      store,
      record.id,
      events,
      retention.events.max,
      ({ time }) => Date.parse(time) < olderThan(retention.events.days),
    )
    await dropOld(
      store,
      record.id,
      audit,
      retention.audit.max,
      ({ time }) => Date.parse(time) < olderThan(retention.audit.days),
    )
    await dropOld(
      store,
      record.id,
      idempotentAnswers,
      Number.POSITIVE_INFINITY,
      ({ expiresAt }) => Date.parse(expiresAt) < clock.now(),
    )
  }
}

async function dropOld<T>(
  store: Store,
  tenant: TenantId,
  collection: Collection<T>,
  max: number,
  isOld: (record: T) => boolean,
): Promise<void> {
  const keys = [...store.keysOf(collection, tenant)].sort(
    (left, right) => left.createRevision - right.createRevision,
  )
  const oldest = keys.slice(0, AT_ONCE)
  const records = await store.read(
    collection,
    oldest.map(({ key }) => key),
  )
  const excess = keys.length - max
  const dropped = oldest.filter((_key, index) => {
    const record = records[index]
    return index < excess || (record !== undefined && isOld(record))
  })
  if (dropped.length > 0) await deleteAll(store, tenant, collection, dropped)
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

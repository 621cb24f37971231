// Data of a tenant without a quota is limited, too: the total size of its events, and the number of unused join tokens.

import type { TenantId, TokenId } from '@holdfast/contract'
import { ANSWER_BYTES, applyRetention, boundBytes, type Retention } from '@holdfast/server/loops/retention'
import type { Caller } from '@holdfast/server/operations/caller'
import { listEvents } from '@holdfast/server/operations/events/read-events'
import { createIdempotentAnswers } from '@holdfast/server/operations/idempotency'
import { sweepJoinTokens } from '@holdfast/server/operations/nodes/clean-up-nodes'
import { issueJoinToken } from '@holdfast/server/operations/nodes/issue-join-token'
import { recordEvent } from '@holdfast/server/operations/record-write'
import { events, idempotentAnswers, joinTokens, tokens } from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { globally, inTenant } from '@holdfast/server/store/transaction'
import { realClock as clock, realIds as ids } from '@holdfast/server/system-clock'
import { sharedEtcd, uniqueName } from '@holdfast/testkit'
import * as world from '@holdfast/testkit/controllers/placing-world'
import { openTestStore } from '@holdfast/testkit/store/open-test-store'
import { expect, onTestFinished, test } from 'vitest'

async function storeWithTenant(): Promise<{ store: Store; tenant: TenantId }> {
  const { endpoints } = await sharedEtcd()
  const { store, close } = await openTestStore({ endpoints, root: `/${uniqueName('growth')}` })
  onTestFinished(close)
  return { store, tenant: await world.addTenant(store) }
}

/** Writes all events in one transaction, so that they have the same revision. */
async function emit(store: Store, tenant: TenantId, names: readonly string[], bytes: number): Promise<void> {
  await world.write(store, (transaction) => {
    for (const name of names)
      recordEvent(transaction, clock, tenant, {
        type: 'deployment.unschedulable',
        severity: 'warning',
        cause: name,
        reason: 'unschedulable',
        subject: { kind: 'Deployment', name, uid: name },
        message: name,
        data: 'x'.repeat(bytes),
      })
  })
  await store.fresh()
}

const keep = (changes: Partial<Retention['events']>): Retention => ({
  events: { days: 30, max: 10_000, bytes: 8 * 1024 ** 2, ...changes },
  audit: { days: 30, max: 10_000 },
})

async function listEventNames(store: Store, tenant: TenantId, after?: string) {
  const query = {
    limit: 500,
    after,
    before: undefined,
    type: undefined,
    subject: undefined,
    severity: undefined,
  }
  const listed = await listEvents(store, tenant, query)
  if (!listed.ok) throw new Error('the list was refused')
  const { items, truncated } = listed.value
  return { names: items.map(({ message }) => message), cursors: items.map(({ cursor }) => cursor), truncated }
}

const eventBytes = (store: Store, tenant: TenantId): number =>
  store.keysOf(events, tenant).reduce((sum, { bytes }) => sum + bytes, 0)

const KIB = 1024

test('events are bounded by their bytes: the oldest whole revisions are deleted first, and readers are informed', async () => {
  const { store, tenant } = await storeWithTenant()
  for (const batch of ['a', 'b', 'c', 'd'])
    await emit(store, tenant, [`${batch}1`, `${batch}2`, `${batch}3`], 50 * KIB)
  const before = await listEventNames(store, tenant)
  expect(before.names).toHaveLength(12)
  const [seen = ''] = before.cursors
  // The limit allows seven of twelve events. Only whole revisions are deleted, so two batches of three events go.
  const retention = keep({ bytes: 7 * 52 * KIB })
  await boundBytes({ store, clock, retention })
  const after = await listEventNames(store, tenant, seen)
  expect([...after.names].sort()).toEqual(['c1', 'c2', 'c3', 'd1', 'd2', 'd3'])
  expect(after.cursors).toEqual(before.cursors.slice(6))
  expect(after.truncated).toEqual({ after: seen, oldest: before.cursors[6] })
  expect(eventBytes(store, tenant)).toBeLessThan(retention.events.bytes)
  await boundBytes({ store, clock, retention })
  expect((await listEventNames(store, tenant)).names).toHaveLength(6)
})

test('one retention pass brings a tenant far above its limit back below it, and touches no other tenant', async () => {
  const { store, tenant } = await storeWithTenant()
  const other = await world.addTenant(store)
  await emit(store, other, ['mine'], 100 * KIB)
  for (let batch = 0; batch < 60; batch += 1)
    await emit(
      store,
      tenant,
      [0, 1, 2, 3].map((each) => `${batch}-${each}`),
      20 * KIB,
    )
  const retention = keep({ bytes: 1024 * KIB })
  expect(eventBytes(store, tenant)).toBeGreaterThan(4 * retention.events.bytes)
  await boundBytes({ store, clock, retention })
  await store.fresh()
  expect(eventBytes(store, tenant)).toBeLessThanOrEqual(retention.events.bytes)
  expect(eventBytes(store, tenant)).toBeGreaterThan(retention.events.bytes / 2)
  expect((await listEventNames(store, other)).names).toEqual(['mine'])
})

test('events are bounded by number and age as well, the oldest first', async () => {
  const { store, tenant } = await storeWithTenant()
  for (const batch of ['a', 'b', 'c']) await emit(store, tenant, [`${batch}1`, `${batch}2`], 10)
  await applyRetention({ store, clock, retention: keep({ max: 3 }) })
  expect((await listEventNames(store, tenant)).names.sort()).toEqual(['c1', 'c2'])
  await applyRetention({ store, clock, retention: keep({}) })
  expect((await listEventNames(store, tenant)).names).toHaveLength(2)
  const later = { now: () => clock.now() + 31 * 24 * 3_600_000 }
  await applyRetention({ store, clock: later, retention: keep({}) })
  expect((await listEventNames(store, tenant)).names).toEqual([])
})

test('responses kept for idempotency keys are bounded by bytes, and are no bytes of the tenant', async () => {
  const { store, tenant } = await storeWithTenant()
  const before = store.storedBytes(tenant)
  const expiresAt = new Date(clock.now() + 3_600_000).toISOString()
  const answer = {
    v: 1,
    requestHash: '',
    status: 201,
    body: { text: 'x'.repeat(1000 * KIB) },
    etag: null,
    expiresAt,
  }
  for (let index = 0; index < 20; index += 1)
    await world.write(store, (transaction) =>
      transaction.put(inTenant(tenant, idempotentAnswers, `key-${String(index).padStart(2, '0')}`), answer),
    )
  await store.fresh()
  expect(store.bytesOf(idempotentAnswers, tenant)).toBeGreaterThan(ANSWER_BYTES)
  expect(store.storedBytes(tenant)).toBe(before)
  await boundBytes({ store, clock, retention: keep({}) })
  await store.fresh()
  const left = store.keysOf(idempotentAnswers, tenant).map(({ id }) => id)
  expect([left.length, left.at(-1)]).toEqual([16, 'key-19'])
})

async function administrator(store: Store, tenant: TenantId): Promise<Caller> {
  const id = `tok_${ids.ulid()}` as TokenId
  const dates = { createdAt: '2026-01-01T00:00:00.000Z', expiresAt: '2099-01-01T00:00:00.000Z' }
  const named = { v: 1, id, name: 'administrator', role: 'tenant-admin' as const, tenant, secretHash: '' }
  await world.write(store, (transaction) => transaction.put(globally(tokens, id), { ...named, ...dates }))
  return { tenant, token: id, role: 'tenant-admin', onBehalf: false, requestId: 'req' }
}

/** Writes join tokens directly to the store, as if they had been issued earlier. */
async function addJoinTokens(store: Store, tenant: TenantId, count: number): Promise<void> {
  const expiresAt = new Date(clock.now() + 15 * 60_000).toISOString()
  const created = { v: 1, tenant, residency: {}, controlPlane: false, secretHash: '', expiresAt }
  for (let from = 0; from < count; from += 100)
    await world.write(store, (transaction) => {
      for (let index = from; index < Math.min(from + 100, count); index += 1)
        transaction.put(globally(joinTokens, ids.ulid()), { ...created, nodeName: `before-${index}` })
    })
}

test('unused join tokens are bounded: one more than a thousand drops the oldest, and expired ones are deleted', async () => {
  const { store, tenant } = await storeWithTenant()
  const other = await world.addTenant(store)
  const answers = createIdempotentAnswers(store, clock, 24)
  const deps = { store, clock, ids, answers, publicUrl: 'http://platform.example', caPin: () => undefined }
  const kept = { idempotency: undefined, answerOf: () => ({ status: 201, body: {} }) }
  const unused = async (owner: TenantId) => {
    await store.fresh()
    const all = store.listWithIds(joinTokens).filter(({ record }) => record.tenant === owner)
    return all.map(({ id }) => id).sort()
  }
  await addJoinTokens(store, other, 1)
  await addJoinTokens(store, tenant, 1_002)
  const [before, theirs] = [await unused(tenant), await unused(other)]
  const caller = await administrator(store, tenant)
  for (const nodeName of ['new-1', 'new-2']) {
    await store.fresh()
    await issueJoinToken(deps, caller, { nodeName }, kept)
  }
  const after = await unused(tenant)
  expect(after).toHaveLength(1_000)
  expect(after.slice(0, 998)).toEqual(before.slice(4))
  expect(await unused(other)).toEqual(theirs)
  await sweepJoinTokens({ store, clock: { now: () => clock.now() + 16 * 60_000 } })
  expect([...(await unused(tenant)), ...(await unused(other))]).toEqual([])
})

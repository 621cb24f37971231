// The quota of containers while two server replicas place concurrently and shards move between them: the quota is not
// exceeded at any revision of the store, and no container is stopped for it.

import { type Assignment, QUOTA_KINDS, type TenantId } from '@holdfast/contract'
import { shardAddress } from '@holdfast/server/loops/leadership/fence'
import { shardOf } from '@holdfast/server/loops/leadership/shard-of'
import { createQuotas, type QuotaDefaults } from '@holdfast/server/quotas/quotas'
import { createSlotAllocator } from '@holdfast/server/quotas/slots'
import { type StoredDeployment, tenants } from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { globally } from '@holdfast/server/store/transaction'
import { uniqueName, waitUntil } from '@holdfast/testkit'
import { createPausable, type Pausable } from '@holdfast/testkit/controllers/pausable-engine'
import * as world from '@holdfast/testkit/controllers/placing-world'
import { type QuotaHistory, watchQuotas } from '@holdfast/testkit/controllers/quota-history'
import { TENTH } from '@holdfast/testkit/controllers/timings'
import { openTestStore, type TestStore } from '@holdfast/testkit/store/open-test-store'
import { afterAll, beforeAll, expect, test } from 'vitest'

const ROUNDS = 200
/** Number of test rounds that run concurrently, each with its own tenant. */
const AT_ONCE = 5
const QUOTA = 5
const NAMES = ['a', 'b', 'c', 'd']
const DESIRED = 3

interface Replica extends Pausable {
  readonly id: string
  readonly store: Store
  readonly controllers: world.Controllers
}

let opened: TestStore[]
let replicas: Replica[]
let history: QuotaHistory

beforeAll(async () => {
  const root = `/${uniqueName('quota')}`
  const observer = await openTestStore({ root })
  opened = [observer]
  history = await watchQuotas(observer.engine, root)
  replicas = []
  for (const id of ['one', 'two']) {
    const pausable = createPausable()
    const test = await openTestStore({ root, wrap: pausable.wrap })
    const { store } = test
    opened.push(test)
    const limit = (tenant: TenantId) =>
      store.get(globally(tenants, tenant))?.record.quotas.containers ?? Number.MAX_SAFE_INTEGER
    const controllers = world.startControllers(store, { replica: id, limit, timings: TENTH })
    replicas.push({ ...pausable, id, store, controllers })
  }
})

afterAll(async () => {
  for (const replica of replicas) replica.resume()
  await Promise.all(replicas.map(({ controllers }) => controllers.stop()))
  history.close()
  for (const each of opened) each.close()
})

async function setQuota(store: Store, tenant: TenantId, containers: number): Promise<void> {
  await world.write(store, (transaction) => {
    const record = transaction.get(globally(tenants, tenant))
    if (record !== undefined)
      transaction.put(globally(tenants, tenant), { ...record, quotas: { containers } })
  })
}

/** Moves the shards to another server replica. Later writes of the old owner are rejected by the fence. */
async function moveTo(owned: readonly TenantId[], { id }: Replica): Promise<void> {
  const [observer] = opened
  await world.write(observer?.store as Store, (transaction) => {
    for (const shard of new Set(owned.map(shardOf))) transaction.put(shardAddress(shard), { v: 1, owner: id })
  })
}

const ownerOf = (tenant: TenantId) => opened[0]?.store.get(shardAddress(shardOf(tenant)))?.record.owner
const owns = ({ controllers }: Replica, tenant: TenantId) => controllers.leadership.owns(tenant)

/** Moves shards back and forth. Sometimes the owner is paused with writes in flight and resumes without its shards. */
async function moveAbout(owned: readonly TenantId[], turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) {
    const to = replicas[turn % 2] as Replica
    const from = replicas[(turn + 1) % 2] as Replica
    if (turn % 4 === 1) from.pause('writes')
    await moveTo(owned, to)
    // The wait also ends if the server replicas have already moved the shard to another owner to rebalance.
    const isMoved = () => owned.every((tenant) => owns(to, tenant) || ownerOf(tenant) !== to.id)
    await waitUntil(isMoved, { what: 'it has the shards', intervalMs: 1 })
    from.resume()
  }
}

async function aTenant(store: Store): Promise<TenantId> {
  const tenant = await world.addTenant(store)
  await setQuota(store, tenant, QUOTA)
  await world.addNodes(store, tenant, world.aNode(uniqueName('n')), world.aNode(uniqueName('n')))
  return tenant
}

const isFull = (tenant: TenantId) =>
  waitUntil(() => history.usedBy(tenant) >= QUOTA, { what: 'the quota is used up', intervalMs: 5 })
const untilIdle = () =>
  waitUntil(() => replicas.every(({ controllers }) => controllers.placing.pending === 0), {
    what: 'all controllers are idle',
  })

/** A tenant's usage as GET /quotas shows it, even above the limit. */
function listed(store: Store, tenant: TenantId) {
  const defaults = Object.fromEntries(QUOTA_KINDS.map((kind) => [kind, 1_000])) as QuotaDefaults
  const quotas = createQuotas(
    store,
    createSlotAllocator(store, () => 0),
    defaults,
    () => 0,
    { now: () => 0 },
  )
  return quotas.list(tenant).items.find(({ kind }) => kind === 'containers')
}

function assignmentsOf(store: Store, tenant: TenantId, all: readonly StoredDeployment[]): Assignment[] {
  return all.flatMap(({ uid }) => world.placementOf(store, tenant, uid)?.assignments ?? [])
}

/** Requests more replicas than the quota allows and then removes some; waiting replicas must use the freed quota. */
async function runRound(tenant: TenantId, round: number): Promise<void> {
  const [one, two] = replicas as [Replica, Replica]
  const all = await Promise.all(
    NAMES.map((name, at) =>
      world.put(
        (at % 2 === 0 ? one : two).store,
        tenant,
        world.deploymentOf(`${name}-${round}`, { replicas: DESIRED }),
      ),
    ),
  )
  await isFull(tenant)
  await two.store.fresh()
  const [first] = all.filter(({ uid }) => world.runningOf(two.store, tenant, uid).length > 0)
  if (first === undefined) throw new Error('nothing was placed')
  await world.revise(one.store, tenant, first, { replicas: 0 })
  const left = () => assignmentsOf(two.store, tenant, [first])
  await waitUntil(() => left().length > 0 && left().every(({ desired }) => desired === 'removed'), {
    what: 'their removal is desired',
    intervalMs: 2,
  })
  history.expectRemovals(left().map(({ id }) => id))
  await world.observe(two.store, tenant, first.uid, left(), { state: 'stopped', gone: true })
  await waitUntil(() => left().length === 0, { what: 'they are gone', intervalMs: 2 })
  await isFull(tenant)
}

async function runRounds(first: number): Promise<void> {
  const [one, two] = replicas as [Replica, Replica]
  const owned = await Promise.all(Array.from({ length: AT_ONCE }, () => aTenant(one.store)))
  await two.store.fresh()
  const moving = moveAbout(owned, 12)
  await Promise.all(owned.map((tenant, at) => runRound(tenant, first + at)))
  await moving
  await untilIdle()
}

test(`two server replicas place concurrently in ${ROUNDS} rounds: the quota is never exceeded, and nothing is stopped`, async () => {
  for (let round = 0; round < ROUNDS; round += AT_ONCE) await runRounds(round)
  console.log(
    `${ROUNDS} rounds: ${history.writes} writes of placements, ${history.placed} assignments, the most at once ${history.most}, ${history.owners} owners in turn`,
  )
  expect(history.above).toEqual([])
  expect(history.unexpectedRemovals).toEqual([])
  expect(history.most).toBe(QUOTA)
  expect(history.owners).toBeGreaterThan(ROUNDS * 4)
  expect(replicas.flatMap(({ controllers }) => controllers.errors)).toEqual([])
}, 300_000)

test('a quota lowered below its usage stops nothing, whatever is requested then, and emits one event per deployment', async () => {
  const [one] = replicas as [Replica, Replica]
  const { store } = one
  const tenant = await aTenant(store)
  const web = await world.put(store, tenant, world.deploymentOf('web', { replicas: QUOTA }))
  await isFull(tenant)
  await store.fresh()
  const before = world.runningOf(store, tenant, web.uid)
  await world.observe(store, tenant, web.uid, before, {})
  await expect.poll(() => world.placementOf(store, tenant, web.uid)?.reportedPhase).toBe('Running')
  await setQuota(store, tenant, QUOTA - 2)
  const other = await world.put(store, tenant, world.deploymentOf('other', { replicas: 1 }))
  await expect
    .poll(() => world.placementOf(store, tenant, other.uid)?.shortfall?.reason)
    .toBe('quota_reached')
  const more = await world.revise(store, tenant, web, { replicas: QUOTA + 2 })
  await expect.poll(() => world.placementOf(store, tenant, web.uid)?.shortfall?.reason).toBe('quota_reached')
  // An update above the quota stops no replica, not even with stop-first, because no successor could be started.
  const order = { ...web.spec.update, order: 'stop-first' as const }
  await world.revise(store, tenant, more, { environment: { A: '2' }, update: order })
  for (const replica of replicas) await moveTo([tenant], replica)
  await expect.poll(() => world.placementOf(store, tenant, web.uid)?.revision).toBe(3)
  await untilIdle()
  await store.fresh()
  expect(world.runningOf(store, tenant, web.uid)).toEqual(before)
  expect(listed(store, tenant)).toEqual({ kind: 'containers', used: QUOTA, limit: QUOTA - 2 })
  const emitted = (await world.eventsOf(store, tenant)).filter(({ type }) => type === 'quota.reached')
  expect(emitted.map(({ subject }) => subject.name).sort()).toEqual(['other', 'web'])
  expect(emitted[0]).toMatchObject({
    severity: 'warning',
    reason: 'quota_reached',
    data: { kind: 'containers' },
  })
  // After the quota is raised again, all desired replicas are started.
  await setQuota(store, tenant, 2 * QUOTA)
  await expect.poll(() => world.runningOf(store, tenant, other.uid).length).toBe(1)
  expect(history.above).toEqual([])
})

// Controllers that die while they place replicas, or that both believe to be the leader: the number of assignments is as
// desired at the end and never higher.

import {
  type Assignment,
  type AssignmentId,
  asOwner,
  DESIRED_STATES,
  type DeploymentUid,
  deploymentUidOf,
  ownerOf,
  type TenantId,
} from '@holdfast/contract'
import type { Leadership } from '@holdfast/server/loops/leadership/lead-shards'
import { deployments, nodes, placements } from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { placementAt } from '@holdfast/server/store/transaction'
import { uniqueName, waitUntil } from '@holdfast/testkit'
import { createMortal, type DeathMoment } from '@holdfast/testkit/controllers/mortal-engine'
import { createPausable } from '@holdfast/testkit/controllers/pausable-engine'
import {
  addNodes,
  addTenant,
  aNode,
  type Controllers,
  deploymentOf,
  eventsOf,
  observe,
  placementOf,
  put,
  revise,
  runningOf,
  startControllers,
} from '@holdfast/testkit/controllers/placing-world'
import { scaledTimings } from '@holdfast/testkit/controllers/timings'
import { openTestStore, type TestStore, type TestStoreOptions } from '@holdfast/testkit/store/open-test-store'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

/** Short timings, so that a dead server replica is detected soon. Only one server replica lives at a time. */
const QUICK = scaledTimings(0.02)

let root: string
let observer: TestStore
let store: Store
let tenant: TenantId
let broken: string[]
let stops: (() => Promise<void>)[]

beforeEach(async () => {
  root = `/${uniqueName('crash')}`
  stops = []
  broken = []
  observer = await open()
  store = observer.store
  tenant = await addTenant(store)
  await addNodes(store, tenant, aNode('n1'), aNode('n2'), aNode('n3'))
  store.subscribe((changes) => {
    for (const { key } of changes) {
      const uid = key.folder === placements.folder ? deploymentUidOf(asOwner(key.id)) : undefined
      if (uid !== undefined) checkHistory(uid)
    }
  })
})

afterEach(async () => {
  for (const stop of stops) await stop()
  observer.close()
})

async function open(options: Partial<TestStoreOptions> = {}): Promise<TestStore> {
  return openTestStore({ root, ...options })
}

/**
 * Checks every revision: never more running assignments than ever desired, nor two with one number. An assignment stays
 * on its node, and a stopped assignment never becomes desired again.
 */
function checkHistory(uid: DeploymentUid): void {
  const placement = placementOf(store, tenant, uid)
  if (placement === undefined) return
  const running = runningOf(store, tenant, uid).map(({ replica }) => replica)
  if (new Set(running).size !== running.length || running.some((replica) => replica > MOST))
    broken.push(`${placement.name}: ${running.join(', ')}`)
  for (const each of placement.assignments) {
    const was = known.get(each.id)
    const back = DESIRED_STATES.indexOf(each.desired) < DESIRED_STATES.indexOf(was?.desired ?? 'running')
    if (was !== undefined && (was.nodeId !== each.nodeId || was.gone || back))
      broken.push(`${each.id} changed`)
    known.set(each.id, { ...each, uid, gone: false })
  }
  const present = new Set(placement.assignments.map(({ id }) => id))
  for (const [id, each] of known)
    if (each.uid === uid && !present.has(id)) known.set(id, { ...each, gone: true })
}
const known = new Map<AssignmentId, Assignment & { readonly uid: DeploymentUid; readonly gone: boolean }>()
const MOST = 4

function start(replica: string, on: Store, leadership?: Controllers['leadership']): Controllers {
  const controllers = startControllers(on, {
    replica,
    timings: QUICK,
    ...(leadership === undefined ? {} : { leadership }),
  })
  return controllers
}

/** Creates a deployment and scales it up and down; a second deployment fits on no node. */
async function putAndScale(): Promise<{ readonly web: DeploymentUid; readonly big: DeploymentUid }> {
  const web = await put(store, tenant, deploymentOf('web', { replicas: 3 }))
  const big = await put(
    store,
    tenant,
    deploymentOf('big', { resources: { cpuMillis: 1_000_000, memoryBytes: 0 } }),
  )
  const wider = await revise(store, tenant, web, { replicas: MOST })
  await revise(store, tenant, wider, { replicas: 2 })
  return { web: web.uid, big: big.uid }
}

async function expectConverged({ web, big }: Awaited<ReturnType<typeof putAndScale>>): Promise<void> {
  const numbers = () => runningOf(store, tenant, web).map(({ replica }) => replica)
  await expect.poll(numbers).toEqual([1, 2])
  await expect.poll(() => placementOf(store, tenant, web)?.revision).toBe(3)
  await expect.poll(() => placementOf(store, tenant, big)?.shortfall?.reason).toBe('unschedulable')
  const emitted = await eventsOf(store, tenant)
  expect(emitted.filter(({ type }) => type === 'deployment.unschedulable')).toHaveLength(1)
  const placed = emitted.filter(({ type }) => type === 'deployment.scheduled')
  const assigned = placed.flatMap(({ data }) => (data as { replicas: { replica: number }[] }).replicas)
  expect(new Set(assigned.map(({ replica }) => replica)).size).toBe(assigned.length)
  expect(broken).toEqual([])
}

/** Runs the scenario with a controller that dies at its n-th write. Returns false if there were fewer writes. */
async function dieAt(atWrite: number, moment: DeathMoment): Promise<boolean> {
  const mortal = createMortal(atWrite, moment)
  const opened = await open({ wrap: mortal.wrap })
  const first = start(`mortal-${atWrite}-${moment}`, opened.store)
  const stored = await putAndScale()
  await waitUntil(
    () =>
      mortal.dead || (first.placing.pending === 0 && placementOf(store, tenant, stored.web)?.revision === 3),
    { what: 'it is dead or done' },
  )
  const stopped = first.stop()
  // stop() never resolves for a dead controller, so the test waits for stop() or for the simulated death.
  await Promise.race([stopped, mortal.death])
  const died = mortal.dead
  opened.close()
  const successor = await open()
  const second = start(`successor-${atWrite}-${moment}`, successor.store)
  await expectConverged(stored)
  await second.stop()
  successor.close()
  return died
}

describe('a controller that dies at any of its writes', () => {
  test.each(['before', 'after'] as const)(
    '%s the store executes it: the next controller completes the work',
    // The timeout is long, because the scenario runs once for each write, and a busy machine adds heartbeat writes.
    { timeout: 180_000 },
    async (moment) => {
      let atWrite = 1
      for (; await inFreshTenant(() => dieAt(atWrite, moment)); atWrite += 1);
      // A controller makes at least four writes at which it can die: heartbeat, shards and placements.
      expect(atWrite).toBeGreaterThan(4)
    },
  )

  async function inFreshTenant(story: () => Promise<boolean>): Promise<boolean> {
    tenant = await addTenant(store)
    const named = (index: number) => `${tenant.slice(0, 8)}-${index}`
    await addNodes(store, tenant, aNode(named(1)), aNode(named(2)), aNode(named(3)))
    return story()
  }
})

/** A leadership without its fence: it claims every shard and rejects no write. */
const unfenced = (on: Store): Leadership => ({
  owns: () => true,
  fenced: (_tenant, decide) => on.transact(decide),
  subscribe: () => () => {},
  stop: async () => {},
})

describe('two controllers that both believe to be the leader, without a fence', () => {
  test('never make more assignments than desired', async () => {
    const stores = [await open(), await open()]
    const both = stores.map((each, index) => start(`r${index}`, each.store, unfenced(each.store)))
    stops.push(async () => {
      await Promise.all(both.map((each) => each.stop()))
      for (const each of stores) each.close()
    })
    const names = Array.from({ length: 20 }, (_, index) => `web-${index}`)
    let stored = await Promise.all(
      names.map((name) => put(store, tenant, deploymentOf(name, { replicas: 2, resources: ROOMLESS }))),
    )
    for (const replicas of [4, 1, 3]) {
      stored = await Promise.all(stored.map((one) => revise(store, tenant, one, { replicas })))
      await expect
        .poll(() => stored.map(({ uid }) => runningOf(store, tenant, uid).length))
        .toEqual(names.map(() => replicas))
    }
    expect(broken).toEqual([])
    expect(store.list(deployments, tenant)).toHaveLength(names.length)
  })

  test('a delayed write does not restore assignments that the other controller has replaced', async () => {
    const [quick, slow] = [createPausable(), createPausable()]
    const stores = [await open({ wrap: quick.wrap }), await open({ wrap: slow.wrap })]
    const both = stores.map((each, index) => start(`r${index}`, each.store, unfenced(each.store)))
    stops.push(async () => {
      await Promise.all(both.map((each) => each.stop()))
      for (const each of stores) each.close()
    })
    const { uid } = await put(store, tenant, deploymentOf('web'))
    await expect.poll(() => runningOf(store, tenant, uid).length).toBe(1)
    await expect.poll(() => both.map(({ placing }) => placing.pending)).toEqual([0, 0])
    for (const each of [quick, slow]) each.pause('writes')
    const first = runningOf(store, tenant, uid)
    await observe(store, tenant, uid, first, { state: 'failed', gone: true })
    // Wait until both controllers have decided and their writes are still held back.
    await expect.poll(() => both.map(({ placing }) => placing.pending)).toEqual([1, 1])
    quick.resume()
    await expect.poll(() => runningOf(store, tenant, uid)[0]?.id).not.toBe(first[0]?.id)
    const second = runningOf(store, tenant, uid)
    expect(both[1]?.placing.pending).toBe(1)
    await observe(store, tenant, uid, second, { state: 'failed', gone: true })
    await expect.poll(() => runningOf(store, tenant, uid)[0]?.id).not.toBe(second[0]?.id)
    const third = runningOf(store, tenant, uid)
    slow.resume()
    await expect.poll(() => both.map(({ placing }) => placing.pending)).toEqual([0, 0])
    await store.fresh()
    expect(runningOf(store, tenant, uid)).toEqual(third)
    expect(broken).toEqual([])
  })
})
const ROOMLESS = { cpuMillis: 0, memoryBytes: 0 }

test('a replica that became ready during its removal stays until its successor is ready', async () => {
  const slow = createPausable()
  const held = await open({ wrap: slow.wrap })
  const { placing, stop } = start('late', held.store, unfenced(held.store))
  stops.push(async () => {
    await stop()
    held.close()
  })
  const first = await put(store, tenant, deploymentOf('web'))
  const running = () => runningOf(store, tenant, first.uid)
  await expect.poll(() => running().length).toBe(1)
  await expect.poll(() => placing.pending).toBe(0)
  const before = running()
  slow.pause('writes')
  await revise(store, tenant, first, { environment: { VERSION: '2' } })
  await expect.poll(() => placing.pending).toBe(1)
  await observe(store, tenant, first.uid, before, { state: 'ready' })
  slow.resume()
  await expect.poll(() => running().map(({ revision }) => revision)).toEqual([1, 2])
  expect(running()).toEqual(expect.arrayContaining(before))
})

test('a placement that cannot be read is left unchanged', async () => {
  const stored = deploymentOf('web')
  const key = store.keyspace.tenantKey(tenant, placements.folder, ownerOf('deployment', stored.uid))
  const success = [{ kind: 'put' as const, key, value: Buffer.from('{"v":1}') }]
  await observer.engine.transact({ compares: [], success, failure: [] })
  const opened = await open()
  const controllers = start('one', opened.store)
  stops.push(async () => {
    await controllers.stop()
    opened.close()
  })
  await put(store, tenant, stored)
  await expect.poll(() => controllers.errors.map(String).join()).toContain('UnreadableRecordError')
  expect(store.get(placementAt(tenant, ownerOf('deployment', stored.uid)))).toBeUndefined()
  const [kept] = (await observer.engine.range({ key })).kvs
  expect(Buffer.from(kept?.value ?? []).toString()).toBe('{"v":1}')
})

test('replicas of a node that cannot be read are not lost', async () => {
  const opened = await open()
  const controllers = start('one', opened.store)
  stops.push(async () => {
    await controllers.stop()
    opened.close()
  })
  const { uid } = await put(store, tenant, deploymentOf('web', { replicas: 3 }))
  await expect.poll(() => runningOf(store, tenant, uid).length).toBe(3)
  const before = runningOf(store, tenant, uid)
  const key = store.keyspace.tenantKey(tenant, nodes.folder, before[0]?.nodeId ?? '')
  const success = [{ kind: 'put' as const, key, value: Buffer.from('{"v":1}') }]
  await observer.engine.transact({ compares: [], success, failure: [] })
  await expect.poll(() => controllers.errors.map(String).join()).toContain('UnreadableRecordError')
  expect(runningOf(store, tenant, uid)).toEqual(before)
})

// Which nodes are counted as unreachable, and since when: after a lost session, a paused server, a takeover or lost
// server replicas. The clock of the test advances in steps of a second.

import type { NodeId, TenantId } from '@holdfast/contract'
import { DEFAULT_TIMES } from '@holdfast/server/gateway/timings'
import { createFailureDetector } from '@holdfast/server/liveness/failure-detector'
import { createSilentNodes } from '@holdfast/server/liveness/watch-silent-nodes'
import { LEADERSHIP_TIMINGS } from '@holdfast/server/loops/leadership/lead-shards'
import { nodes, type StoredNode, serverReplicas, shards } from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { globally, inTenant } from '@holdfast/server/store/transaction'
import { realClock as clock } from '@holdfast/server/system-clock'
import { uniqueName } from '@holdfast/testkit'
import { createPausable } from '@holdfast/testkit/controllers/pausable-engine'
import * as world from '@holdfast/testkit/controllers/placing-world'
import { openTestStore } from '@holdfast/testkit/store/open-test-store'
import { expect, onTestFinished, test } from 'vitest'

const STEP_MS = 1_000
const heldBy = (replica: string) => ({ session: { replica, epoch: 3, bootId: 'boot' } })

async function cellForTest() {
  const pausable = createPausable()
  const root = `/${uniqueName('detector')}`
  const { store, close } = await openTestStore({ root, wrap: pausable.wrap })
  onTestFinished(close)
  let now = 1_000_000
  const holds: boolean[] = []
  const detector = createFailureDetector({
    store,
    self: 'me',
    times: DEFAULT_TIMES,
    checkMs: STEP_MS,
    monotonic: () => now,
    onHold: (begins) => holds.push(begins),
  })
  onTestFinished(detector.stop)
  const tenant = await world.addTenant(store)
  return {
    store,
    detector,
    tenant,
    pausable,
    holds,
    now: () => now,
    /** Advances the clock without a check by the detector, as when the process is paused. */
    skip: (seconds: number) => {
      now += seconds * 1_000
    },
    /** Advances the clock second by second. Each second runs a check by the detector and then `each`. */
    async pass(seconds: number, each: (at: number) => Promise<void> | void = () => {}) {
      for (let second = 0; second < seconds; second += 1) {
        now += STEP_MS
        detector.check(now)
        await each(now)
        await store.fresh()
      }
    },
  }
}

const setNode = (store: Store, tenant: TenantId, node: StoredNode, changes: Partial<StoredNode>) =>
  world.write(store, (transaction) =>
    transaction.put(inTenant(tenant, nodes, node.id), { ...node, ...changes }),
  )

async function aSilentNode(store: Store, tenant: TenantId): Promise<NodeId> {
  const [node] = await world.addNodes(store, tenant, world.aNode(uniqueName('n'), heldBy('me')))
  if (node === undefined) throw new Error('no node')
  await setNode(store, tenant, node, { ...heldBy('me'), status: 'unreachable' })
  await store.fresh()
  return node.id
}

const sendHeartbeat = (store: Store, replica: string, count: number) =>
  world.write(store, (transaction) =>
    transaction.put(globally(serverReplicas, replica), {
      v: 1,
      url: '',
      startedAt: '',
      heartbeat: count,
      leads: false,
    }),
  )

test('the owner of the shard declares a node failed whose server replica is gone, after its full timeout', async () => {
  const { store, detector, tenant, now, pass } = await cellForTest()
  const [node] = await world.addNodes(store, tenant, world.aNode(uniqueName('n'), heldBy('srv_gone')))
  // With the default timings, a pause of the test machine does not cost the server its shard.
  const controllers = world.startControllers(store, { timings: LEADERSHIP_TIMINGS })
  onTestFinished(() => controllers.stop())
  await expect.poll(() => controllers.leadership.owns(tenant)).toBe(true)
  const silent = createSilentNodes(
    { store, clock, leadership: controllers.leadership, detector },
    DEFAULT_TIMES,
  )
  const statuses: [string | undefined, number][] = []
  const began = now()
  const checkAt = async (at: number) => {
    if (at === began + 30_000) detector.restart(at)
    await silent.check(at)
    await store.fresh()
    const status = store.get(inTenant(tenant, nodes, node?.id ?? ''))?.record.status
    if (statuses.at(-1)?.[0] !== status) statuses.push([status, (at - began) / 1_000])
  }
  await pass(155, checkAt)
  // The detector restarts all timeouts thirty seconds after the start of the test, so each status comes 30 s later.
  expect(statuses).toEqual([
    ['ready', 1],
    ['unreachable', 70],
    ['failed', 150],
  ])
  const emitted = (await world.eventsOf(store, tenant)).map(({ type }) => type).sort()
  expect(emitted).toEqual(['node.failed', 'node.unreachable'])
})

test('an unreachable node may fail 120 s after its last heartbeat, 40 s of which were over when it became unreachable', async () => {
  const { store, detector, tenant, now, pass } = await cellForTest()
  await pass(100)
  const id = await aSilentNode(store, tenant)
  await pass(79)
  expect(detector.mayFail(id, now())).toBe(false)
  await pass(1)
  expect(detector.mayFail(id, now())).toBe(true)
})

test('a pause of the server does not extend the time without heartbeats', async () => {
  const { store, detector, tenant, now, pass, skip } = await cellForTest()
  await pass(100)
  const id = await aSilentNode(store, tenant)
  await pass(40)
  // A pause of the process that is too short for the detector to treat the store as unavailable.
  skip(12)
  await pass(39)
  expect(detector.mayFail(id, now())).toBe(false)
  await pass(2)
  expect(detector.mayFail(id, now())).toBe(true)
})

test('after the store was unavailable nodes have their full timeout, and none fails before', async () => {
  const { store, detector, tenant, now, pass, skip, pausable } = await cellForTest()
  await pass(100)
  const id = await aSilentNode(store, tenant)
  await pass(75)
  pausable.pause()
  for (let second = 0; second < 60; second += 1) {
    skip(1)
    detector.check(now())
    // Checked only once the detector treats the store as unavailable: from then on, no node may be declared failed.
    if (second * 1_000 > DEFAULT_TIMES.awayMs) expect(detector.mayFail(id, now())).toBe(false)
  }
  const back = now()
  pausable.resume()
  await store.fresh()
  await pass(119)
  expect(detector.countedFrom).toBeGreaterThanOrEqual(back)
  expect(detector.mayFail(id, now())).toBe(false)
  await pass(3)
  expect(detector.mayFail(id, now())).toBe(true)
})

test('taking over a shard restarts the timeouts, and takeovers by others do not', async () => {
  const { store, detector, pass, now } = await cellForTest()
  const began = detector.countedFrom
  await pass(10)
  const take = (owner: string) =>
    world.write(store, (transaction) => transaction.put(globally(shards, '7'), { v: 1, owner }))
  await take('other')
  await store.fresh()
  expect(detector.countedFrom).toBe(began)
  await take('me')
  await store.fresh()
  expect(detector.countedFrom).toBe(now())
})

test('nodes of server replicas without heartbeats count as unreachable after 40 s, and those of live replicas do not', async () => {
  const { store, detector, tenant, pass, now, holds } = await cellForTest()
  await pass(100)
  for (const replica of ['live', 'silent']) await sendHeartbeat(store, replica, 0)
  const held = ['live', 'live', 'live', 'silent', 'silent'].map((replica) =>
    world.aNode(uniqueName('n'), heldBy(replica)),
  )
  await world.addNodes(store, tenant, ...held)
  const own = await aSilentNode(store, tenant)
  await pass(39, (at) => sendHeartbeat(store, 'live', at))
  expect(holds).toEqual([])
  // Three of six nodes are silent: two of the silent server replica and one of this server replica.
  await pass(42, (at) => sendHeartbeat(store, 'live', at))
  expect(holds).toEqual([true])
  expect(detector.mayFail(own, now())).toBe(false)
  await sendHeartbeat(store, 'silent', 1)
  await pass(121, (at) =>
    Promise.all([sendHeartbeat(store, 'live', at), sendHeartbeat(store, 'silent', at)]).then(() => {}),
  )
  expect(holds).toEqual([true, false])
  expect(detector.mayFail(own, now())).toBe(true)
})

test('orphaned nodes are those of lost server replicas, until another replica has their session', async () => {
  const { store, detector, tenant } = await cellForTest()
  await sendHeartbeat(store, 'here', 0)
  const [there, orphan, failed] = await world.addNodes(
    store,
    tenant,
    world.aNode(uniqueName('n'), heldBy('here')),
    world.aNode(uniqueName('n'), heldBy('gone')),
    world.aNode(uniqueName('n'), { ...heldBy('gone'), status: 'failed' }),
  )
  if (there === undefined || orphan === undefined || failed === undefined) throw new Error('no nodes')
  const ids = async () => {
    await store.fresh()
    return detector.orphans().map(({ nodeId }) => nodeId)
  }
  expect(await ids()).toEqual([orphan.id])
  await world.write(store, (transaction) => transaction.delete(globally(serverReplicas, 'here')))
  expect((await ids()).sort()).toEqual([there.id, orphan.id].sort())
  await setNode(store, tenant, orphan, heldBy('me'))
  expect(await ids()).toEqual([there.id])
  await world.write(store, (transaction) => transaction.delete(inTenant(tenant, nodes, there.id)))
  expect(await ids()).toEqual([])
})

// /why with an earlier time returns the placement decision of that time. The real controllers record a decision together
// with the placement, once for each change.

import {
  type Candidate,
  type DeploymentUid,
  type Event,
  type NodeId,
  ownerOf,
  type TenantId,
} from '@holdfast/contract'
import { finishRemovals } from '@holdfast/server/loops/finish-removals'
import { deploymentView } from '@holdfast/server/operations/deployments/read/deployment-view'
import {
  COLLECTIONS,
  decisionParts,
  decisions,
  deployments,
  nodes,
  removals,
  type StoredDeployment,
  type StoredNode,
  tenants,
} from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { globally, inTenant } from '@holdfast/server/store/transaction'
import { realClock as clock } from '@holdfast/server/system-clock'
import { waitUntil } from '@holdfast/testkit'
import { decisionsOf, whyAt } from '@holdfast/testkit/controllers/decided'
import { createMortal, type DeathMoment } from '@holdfast/testkit/controllers/mortal-engine'
import * as world from '@holdfast/testkit/controllers/placing-world'
import { createSetClock } from '@holdfast/testkit/controllers/set-clock'
import { scaledTimings } from '@holdfast/testkit/controllers/timings'
import { createTestStores, type TestStores } from '@holdfast/testkit/store/test-stores'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

let stores: TestStores
let store: Store
let tenant: TenantId

beforeEach(async () => {
  stores = createTestStores('why')
  store = await stores.open()
  tenant = await world.addTenant(store)
})
afterEach(() => stores.close())
const allBytes = (): number =>
  COLLECTIONS.reduce((sum, collection) => sum + store.bytesOf(collection, tenant), 0)

/** Starts controllers with the default timings, so that a pause of the test machine does not cost a shard. */
function start(on: Store = store, options: world.ControllerOptions = {}): world.Controllers {
  const controllers = world.startControllers(on, { timings: scaledTimings(1), ...options })
  stores.ends.push(controllers.stop)
  return controllers
}

const change = (node: StoredNode, changes: Partial<StoredNode>): Promise<void> =>
  world.write(store, (transaction) =>
    transaction.put(inTenant(tenant, nodes, node.id), {
      ...(store.get(inTenant(tenant, nodes, node.id))?.record ?? node),
      ...changes,
    }),
  )

/** Waits until the controllers are idle and the clock has advanced, so that the next decision has a later time. */
async function quiet({ placing }: world.Controllers): Promise<number> {
  await store.fresh()
  await waitUntil(() => placing.pending === 0, { what: 'the controllers are idle' })
  await store.fresh()
  const now = clock.now()
  await waitUntil(() => clock.now() > now + 1, { what: 'time passes', intervalMs: 1 })
  return now
}

/** Filters whose reported values change with every replica; such a change alone is no new refusal. */
const MOVES = new Set(['quota', 'resources'])
const shown = (candidates: readonly Candidate[]) =>
  candidates.map(({ nodeName, refusals }) => [
    nodeName,
    refusals.map(({ filter, code, required, reported }) => ({
      filter,
      code,
      required,
      reported: MOVES.has(filter) ? null : reported,
    })),
  ])
const matrixOf = ({ data }: Event) => (data as unknown as { candidates: Candidate[] }).candidates
const REFUSED = new Set(['deployment.unschedulable', 'deployment.stalled'])
const REPORTED_PHASES: { readonly [type: string]: string } = {
  'deployment.running': 'Running',
  'deployment.stopped': 'Stopped',
  'deployment.degraded': 'Degraded',
}

describe('/why at every moment of a run with label changes, cordons, quotas and placements', () => {
  const SELECTED = { constraints: [{ label: 'disk', operator: 'in' as const, values: ['ssd'] }] }
  let limit: number
  let controllers: world.Controllers
  let web: StoredDeployment
  let machines: StoredNode[]

  const setQuota = async (containers: number) => {
    limit = containers
    await world.write(store, (transaction) => {
      const found = store.get(globally(tenants, tenant))?.record
      if (found !== undefined)
        transaction.put(globally(tenants, tenant), { ...found, quotas: { containers } })
    })
  }
  const node = (index: number): StoredNode => machines[index] ?? world.aNode('none')
  const running = () => world.runningOf(store, tenant, web.uid)
  const report = (state: 'ready' | 'running', reason: string) =>
    world.observe(store, tenant, web.uid, running(), { state, reason, seq: Math.round(performance.now()) })
  const STEPS: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['no node has the label', async () => {}],
    ['a node is cordoned', () => change(node(0), { schedulable: false })],
    ['a cordoned node gets the label', () => change(node(0), { labels: { disk: 'ssd' } })],
    ['another node gets a label that does not match', () => change(node(1), { labels: { disk: 'hdd' } })],
    ['the quota is used up', () => setQuota(0)],
    ['the node is open again, the quota is not', () => change(node(0), { schedulable: true })],
    ['the quota allows one', () => setQuota(1)],
    ['the one is ready', () => report('ready', '')],
    ['the quota allows all', () => setQuota(10)],
    ['all are ready', () => report('ready', '')],
    ['they are unhealthy', () => report('running', 'unhealthy')],
    ['they exit', () => report('running', 'exited')],
    ['and are ready again', () => report('ready', '')],
    [
      'more replicas are desired than the quota allows',
      async () => {
        await setQuota(3)
        web = await world.revise(store, tenant, web, { replicas: 5 })
      },
    ],
    ['all allowed replicas are ready', () => report('ready', '')],
    ['another node fits too', () => change(node(1), { labels: { disk: 'ssd' } })],
    ['the quota allows all of them', () => setQuota(100)],
    ['all five are ready', () => report('ready', '')],
    [
      'fewer replicas are desired',
      async () => (web = await world.revise(store, tenant, web, { replicas: 1 })),
    ],
  ]

  interface Moment {
    readonly at: number
    readonly step: string
    readonly phase: string | undefined
    readonly reason: string
    readonly isRefused: boolean
  }
  const moments: Moment[] = []

  test('returns the decision that the events of that time prove, the same on two servers', async () => {
    machines = await world.addNodes(store, tenant, world.aNode('n1'), world.aNode('n2'), world.aNode('n3'))
    limit = 10
    controllers = start(store, { limit: () => limit })
    web = await world.put(
      store,
      tenant,
      world.deploymentOf('web', { replicas: 2, placement: { ...SELECTED } }),
    )
    await waitUntil(() => world.placementOf(store, tenant, web.uid), { what: 'there is a leader' })
    for (const [step, act] of STEPS) {
      await act()
      const at = await quiet(controllers)
      const placement = world.placementOf(store, tenant, web.uid)
      const { phase, reason } = deploymentView(store, tenant, web).status
      moments.push({ at, step, phase, reason, isRefused: placement?.reportedRefusals !== '' })
    }
    expect(new Set(moments.map(({ phase }) => phase)).size).toBeGreaterThan(3)
    const emitted = (await world.eventsOf(store, tenant)).filter(({ subject }) => subject.uid === web.uid)
    const other = await stores.open()
    for (const moment of moments) await checkMoment(moment, emitted, other)
    await checkTimes(emitted)
    await checkRecords(emitted)
  })

  async function checkMoment({ at, step, phase, isRefused }: Moment, emitted: Event[], other: Store) {
    const answer = await whyAt(store, tenant, 'web', at)
    expect([step, await whyAt(other, tenant, 'web', at)]).toEqual([step, answer])
    expect([step, answer.phase]).toEqual([step, phase])
    const refusal = emitted.findLast(({ type, time }) => REFUSED.has(type) && Date.parse(time) <= at)
    const proven = isRefused && refusal !== undefined ? shown(matrixOf(refusal)) : []
    expect([step, shown(answer.candidates)]).toEqual([step, proven])
    expect([step, answer.candidates.length > 0]).toEqual([step, isRefused])
  }

  /** Checks that /why shows each decision from the exact millisecond of its event on, and not before. */
  async function checkTimes(emitted: readonly Event[]): Promise<void> {
    const proving = emitted.filter(
      ({ type }) => REFUSED.has(type) || type === 'deployment.scheduled' || type in REPORTED_PHASES,
    )
    expect(proving.length).toBeGreaterThan(10)
    for (const event of proving) {
      const at = Date.parse(event.time)
      const answer = await whyAt(store, tenant, 'web', at)
      expect([event.type, answer.decidedAt]).toEqual([event.type, event.time])
      if (REFUSED.has(event.type)) {
        expect(answer.candidates).toEqual(matrixOf(event))
        expect(answer.summary).toBe(event.message)
        expect(answer.cure.length).toBeGreaterThan(0)
      }
      if (event.type in REPORTED_PHASES) expect(answer.phase).toBe(REPORTED_PHASES[event.type])
      const before = await whyAt(store, tenant, 'web', at - 1)
      expect(before.decidedAt === null || before.decidedAt < event.time).toBe(true)
    }
  }

  async function checkRecords(emitted: readonly Event[]): Promise<void> {
    const kept = await decisionsOf(store, tenant, web.uid)
    for (const { at, step, reason } of moments) {
      const inForce = kept.findLast(({ decidedAt }) => Date.parse(decidedAt) <= at)
      expect([step, inForce?.reason]).toEqual([step, reason])
    }
    expect(kept.map(({ number }) => number)).toEqual(kept.map((_, index) => index + 1))
    const scheduled = new Set(
      emitted.filter(({ type }) => type === 'deployment.scheduled').map(({ time }) => time),
    )
    for (const [index, { decidedAt, phase, reason, revision, candidates }] of kept.entries()) {
      const last = kept[index - 1]
      if (last === undefined) continue
      expect(decidedAt > last.decidedAt).toBe(true)
      const same =
        phase === last.phase &&
        reason === last.reason &&
        revision === last.revision &&
        JSON.stringify(shown(candidates)) === JSON.stringify(shown(last.candidates))
      expect([decidedAt, same && !scheduled.has(decidedAt)]).toEqual([decidedAt, false])
    }
  }
})

test('/why before the first decision knows nothing, in the future returns the newest, and keeps its numbers', async () => {
  await world.addNodes(store, tenant, world.aNode('n1', { schedulable: false }))
  const before = clock.now() - 1
  const controllers = start()
  const { uid } = await world.put(store, tenant, world.deploymentOf('web', { replicas: 2 }))
  await waitUntil(async () => (await decisionsOf(store, tenant, uid)).length === 1, { what: 'it is decided' })
  await quiet(controllers)
  expect(await whyAt(store, tenant, 'web', before)).toMatchObject({ decidedAt: null, candidates: [] })
  const [record] = await decisionsOf(store, tenant, uid)
  expect(record).toMatchObject({
    owner: ownerOf('deployment', uid),
    name: 'web',
    number: 1,
    revision: 1,
    phase: 'Pending',
    reason: 'unschedulable',
    replicas: { desired: 2, placed: 0, ready: 0 },
  })
  const answer = await whyAt(store, tenant, 'web', clock.now() + 3_600_000)
  expect(answer).toEqual({
    decidedAt: record?.decidedAt,
    phase: 'Pending',
    summary: record?.summary,
    candidates: record?.candidates,
    cure: record?.cure,
  })
})

test('an unsatisfied residency demand and the label that satisfies it are two decisions', async () => {
  const node = world.aNode('n1', { attested: { country: 'DE' } })
  await world.addNodes(store, tenant, node)
  const controllers = start()
  const placement = { residency: { country: 'DE' } }
  const { uid } = await world.put(store, tenant, world.deploymentOf('web', { placement }))
  await waitUntil(async () => (await decisionsOf(store, tenant, uid)).length === 1, { what: 'it waits' })
  const waiting = await quiet(controllers)
  await change(node, { labels: { 'holdfast.io/country': 'DE' } })
  await waitUntil(() => world.runningOf(store, tenant, uid).length === 1, { what: 'it is placed' })
  const kept = (await decisionsOf(store, tenant, uid)).map(({ phase, reason }) => [phase, reason])
  expect(kept).toEqual([
    ['Waiting', 'residency_no_match'],
    ['Progressing', ''],
  ])
  const { phase, candidates, cure } = await whyAt(store, tenant, 'web', waiting)
  expect([phase, candidates[0]?.refusals[0]?.filter]).toEqual(['Waiting', 'residency_country'])
  expect([candidates[0]?.cure?.changes.length, cure.length]).toEqual([1, 1])
})

test('a stable refusal is one record, however often it is tried and whatever numbers move', async () => {
  const GIBIBYTE = 1024 ** 3
  const [n1] = await world.addNodes(store, tenant, world.aNode('n1'))
  let looks = 0
  const counting = {
    now() {
      looks += 1
      return clock.now()
    },
  }
  const controllers = start(store, { clock: counting })
  const resources = { cpuMillis: 1_000, memoryBytes: 100 * GIBIBYTE }
  const { uid } = await world.put(store, tenant, world.deploymentOf('big', { resources }))
  await waitUntil(async () => (await decisionsOf(store, tenant, uid)).length === 1, { what: 'it is refused' })
  const bytes = allBytes()
  for (let round = 1; round <= 200; round += 1) {
    const capacity = { cpuMillis: 4_000, memoryBytes: 8 * GIBIBYTE + round }
    await change(n1 ?? world.aNode('none'), { capacity })
    await waitUntil(() => controllers.placing.pending === 0, { what: 'it was tried', intervalMs: 1 })
  }
  await quiet(controllers)
  expect(looks).toBeGreaterThan(200)
  expect(await decisionsOf(store, tenant, uid)).toHaveLength(1)
  expect(allBytes() - bytes).toBeLessThan(100)
})

describe('a leader that dies at a write', () => {
  /** Short timings, so that a dead server replica is detected soon. Only one server replica lives at a time. */
  const QUICK = scaledTimings(0.02)

  /** Has a deployment refused and then placed by a leader that dies at its n-th write. Returns false if it survived. */
  async function dieAt(atWrite: number, moment: DeathMoment): Promise<boolean> {
    tenant = await world.addTenant(store)
    const node = world.aNode(`${tenant.slice(0, 8)}-1`, { schedulable: false })
    await world.addNodes(store, tenant, node)
    const mortal = createMortal(atWrite, moment)
    const first = start(await stores.open({ wrap: mortal.wrap }), {
      replica: `mortal-${atWrite}-${moment}`,
      timings: QUICK,
    })
    stores.ends.pop()
    const { uid } = await world.put(store, tenant, world.deploymentOf('web'))
    const isPlaced = () => world.runningOf(store, tenant, uid).length === 1
    const isRefused = () => world.placementOf(store, tenant, uid)?.shortfall !== undefined
    await waitUntil(() => mortal.dead || isRefused(), { what: 'it is dead or has refused' })
    await change(node, { schedulable: true })
    await waitUntil(() => mortal.dead || isPlaced(), { what: 'it is dead or done' })
    await Promise.race([first.stop(), mortal.death])
    const heir = start(await stores.open(), { replica: `heir-${atWrite}-${moment}`, timings: QUICK })
    await waitUntil(isPlaced, { what: 'the successor has placed it' })
    await quiet(heir)
    await checkProven(uid)
    await heir.stop()
    return mortal.dead
  }

  /** Checks that each event of a decision has a record with the same time, and that no two records share a number. */
  async function checkProven(uid: DeploymentUid): Promise<void> {
    const kept = await decisionsOf(store, tenant, uid)
    const emitted = (await world.eventsOf(store, tenant)).filter(({ subject }) => subject.uid === uid)
    expect(kept.map(({ number }) => number)).toEqual(kept.map((_, index) => index + 1))
    expect(kept.map(({ decidedAt }) => decidedAt)).toEqual([...new Set(emitted.map(({ time }) => time))])
    expect(world.placementOf(store, tenant, uid)?.decided?.number).toBe(kept.length)
  }

  test.each(['before', 'after'] as const)(
    '%s the store executes it leaves the records that were written',
    // The scenario runs once for each write, and a busy machine adds heartbeat writes.
    { timeout: 180_000 },
    async (moment) => {
      let atWrite = 1
      for (; await dieAt(atWrite, moment); atWrite += 1);
      expect(atWrite).toBeGreaterThan(3)
    },
  )
})

test('an owner whose clock is behind records its decision after the last one', async () => {
  const node = world.aNode('n1', { schedulable: false })
  await world.addNodes(store, tenant, node)
  const first = start()
  const { uid } = await world.put(store, tenant, world.deploymentOf('web'))
  await waitUntil(async () => (await decisionsOf(store, tenant, uid)).length === 1, { what: 'it is refused' })
  await first.stop()
  const late = createSetClock()
  late.advance(-60_000)
  start(await stores.open(), { replica: 'two', clock: late })
  await change(node, { schedulable: true })
  await waitUntil(() => world.runningOf(store, tenant, uid).length === 1, { what: 'it is placed' })
  const kept = await decisionsOf(store, tenant, uid)
  const times = kept.map(({ decidedAt }) => Date.parse(decidedAt))
  expect(times[1]).toBe((times[0] ?? 0) + 1)
  expect((await whyAt(store, tenant, 'web', clock.now())).phase).toBe('Progressing')
})

test('a matrix of many nodes is stored in groups that name every node, and deleted with its deployment', async () => {
  const NODES = 400
  const constraints = ['a', 'b', 'c'].map((key) => ({
    label: `zone-${key}`,
    operator: 'in' as const,
    values: ['x'.repeat(300)],
  }))
  const all = Array.from({ length: NODES }, (_, index) => world.aNode(`machine-number-${index}`))
  for (let from = 0; from < NODES; from += 50)
    await world.addNodes(store, tenant, ...all.slice(from, from + 50))
  const controllers = start()
  const stored = await world.put(store, tenant, world.deploymentOf('web', { placement: { constraints } }))
  await waitUntil(async () => (await decisionsOf(store, tenant, stored.uid)).length === 1, {
    what: 'it is refused',
  })
  await quiet(controllers)
  expect(store.keysOf(decisionParts, tenant)).toEqual([])
  for (const { bytes } of store.keysOf(decisions, tenant)) expect(bytes).toBeLessThan(32 * 1024)
  const { candidates, summary } = await whyAt(store, tenant, 'web', clock.now())
  expect(candidates.map(({ nodeId }) => nodeId).sort()).toEqual(all.map(({ id }): NodeId => id).sort())
  for (const { refusals } of candidates) expect(refusals[0]?.required).toEqual(constraints)
  expect(summary).toContain(`0 of ${NODES} nodes`)

  await world.write(store, (transaction) => {
    transaction.put(inTenant(tenant, deployments, 'web'), { ...stored, deleting: true })
    transaction.put(globally(removals, stored.uid), { v: 1, tenant, name: 'web' })
  })
  await quiet(controllers)
  await finishRemovals({ store, clock, removeTenantSecrets: async () => true })
  await store.fresh()
  expect(store.get(inTenant(tenant, deployments, 'web'))).toBeUndefined()
  expect([...store.keysOf(decisions, tenant), ...store.keysOf(decisionParts, tenant)]).toEqual([])
  const again = await world.put(store, tenant, world.deploymentOf('web'))
  await waitUntil(async () => (await decisionsOf(store, tenant, again.uid)).length === 1, {
    what: 'the next of that name is placed',
  })
  const [first] = await decisionsOf(store, tenant, again.uid)
  const earlier = Date.parse(first?.decidedAt ?? '') - 1
  expect(await whyAt(store, tenant, 'web', earlier)).toMatchObject({ decidedAt: null, candidates: [] })
})

// The scaling controller with the placement controller, without agents: the test sets the usage and the readiness of
// replicas, and runs the rounds in virtual time.

import type { AssignmentId, ScalingPolicy, TenantId } from '@holdfast/contract'
import {
  createScalingRounds,
  type ScalingRounds,
} from '@holdfast/server/loops/controllers/scaling/drive-scaling'
import { deploymentView } from '@holdfast/server/operations/deployments/read/deployment-view'
import type { NodeUsage, OwnedNode, ReadUsageOfAll } from '@holdfast/server/ports/usage'
import { demandForm } from '@holdfast/server/store/demand-form'
import { deployments, nodes, type StoredDeployment } from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { inTenant } from '@holdfast/server/store/transaction'
import { uniqueName } from '@holdfast/testkit'
import { type ObedientAgents, startObedientAgents } from '@holdfast/testkit/controllers/obedient-agents'
import {
  addNodes,
  addTenant,
  aNode,
  type Controllers,
  deploymentOf,
  eventsOf,
  placementOf,
  put,
  revise,
  runningOf,
  startControllers,
  write,
} from '@holdfast/testkit/controllers/placing-world'
import { createSetClock } from '@holdfast/testkit/controllers/set-clock'
import { openTestStore, type TestStore } from '@holdfast/testkit/store/open-test-store'
import { afterEach, beforeEach, expect, test } from 'vitest'

const POLICY: ScalingPolicy = { min: 2, max: 8, metric: 'cpu', targetPercent: 50, scaleDownDelay: '300s' }
const REQUEST = 100
/** Longer than the watch window of a deployment without a health check. */
const WATCH_MS = 20_000

let opened: TestStore
let store: Store
let tenant: TenantId
let controllers: Controllers
let agents: ObedientAgents[]
let time: number
let clock: ReturnType<typeof createSetClock>
let questions: (readonly OwnedNode[])[]
/** The usage of each replica in millis; undefined if no server replica answers. */
let usage: number | undefined

beforeEach(async () => {
  opened = await openTestStore({ root: `/${uniqueName('scale')}` })
  store = opened.store
  tenant = await addTenant(store)
  agents = []
  time = 0
  questions = []
  usage = REQUEST / 2
  clock = createSetClock()
})

afterEach(async () => {
  for (const each of agents) await each.stop()
  await controllers.stop()
  opened.close()
})

const readUsageOfAll: ReadUsageOfAll = async (asked) => {
  questions.push(asked)
  if (usage === undefined) return { nodes: new Map(), unreachable: asked.map(({ nodeId }) => nodeId) }
  const cpuMillis = usage
  // A node with replicas of several deployments is asked about once for each.
  const byNode = Map.groupBy(asked, ({ nodeId }) => nodeId)
  const found = [...byNode].map(([nodeId, all]) => {
    const assignments = all.flatMap((node) => node.assignments ?? [])
    return [nodeId, usageOf({ nodeId, tenant, assignments }, cpuMillis)] as const
  })
  return { nodes: new Map(found), unreachable: [] }
}

const NO_VALUES = { cpuMillis: [], memoryBytes: [], rx: [], tx: [] }

const usageOf = ({ nodeId, assignments = [] }: OwnedNode, cpuMillis: number): NodeUsage => ({
  ...{ nodeId, cpuMillis: [], memoryBytes: [], loadMillis: [], diskUsedBytes: [] },
  ...{ lastMinute: {}, unread: 0, omitted: 0 },
  series: assignments.map((id: AssignmentId) => ({
    id,
    ...NO_VALUES,
    lastMinute: { cpuMillis, memoryBytes: 1 },
  })),
})

function startRounds(containers = 1000): ScalingRounds {
  const quotas = { list: () => ({ items: [{ kind: 'containers' as const, used: 0, limit: containers }] }) }
  return createScalingRounds({
    store,
    clock,
    leadership: controllers.leadership,
    quotas,
    readUsageOfAll,
    nowMs: () => time,
    onError: (error) => controllers.errors.push(error),
  })
}

async function runRounds(rounds: ScalingRounds, count: number): Promise<void> {
  for (let round = 0; round < count; round += 1) {
    // The cache follows the store with a small delay; rounds of 30 s do not see it.
    await store.fresh()
    await rounds.run()
    time += 30_000
  }
  await store.fresh()
}

const desiredOf = ({ spec }: StoredDeployment): number | undefined =>
  store.get(inTenant(tenant, deployments, spec.name))?.record.scaling?.desired

const statusOf = ({ spec }: StoredDeployment) => {
  const stored = store.get(inTenant(tenant, deployments, spec.name))?.record
  if (stored === undefined) throw new Error('the deployment is gone')
  return deploymentView(store, tenant, stored).status
}

/** A deployment with a policy, whose rollout is over: all its replicas are ready. */
async function startScaled(name: string, policy: ScalingPolicy = POLICY): Promise<StoredDeployment> {
  const at = new Date(0).toISOString()
  const scaling = { policy, revision: 1, createdAt: at, updatedAt: at, desired: policy.min }
  const resources = { cpuMillis: REQUEST, memoryBytes: 0 }
  await demandForm(store, 2)
  const base = deploymentOf(name, { replicas: 1, resources })
  const stored = await put(store, tenant, { ...base, v: 2, scaling })
  agents.push(startObedientAgents(store, tenant, stored.uid, () => ({ state: 'ready' })))
  await expect.poll(() => statusOf(stored).replicas.ready).toBe(policy.min)
  clock.advance(WATCH_MS)
  await expect.poll(() => placementOf(store, tenant, stored.uid)?.rollout).toBeUndefined()
  return stored
}

test('busy replicas get more beside them, and the spec stays as it is', async () => {
  await addNodes(store, tenant, aNode('n1'), aNode('n2'))
  controllers = startControllers(store, { clock })
  const web = await startScaled('web')
  const rounds = startRounds()
  usage = REQUEST
  await runRounds(rounds, 1)
  await expect.poll(() => runningOf(store, tenant, web.uid).length).toBe(4)
  expect(statusOf(web).replicas.desired).toBe(4)
  expect(store.get(inTenant(tenant, deployments, 'web'))?.record.spec.replicas).toBe(1)
  const scaled = (await eventsOf(store, tenant)).filter(({ type }) => type === 'deployment.scaled')
  expect(scaled).toHaveLength(1)
  expect(scaled[0]).toMatchObject({
    reason: 'scale_up',
    data: { from: 2, to: 4, wanted: 4, measuredPercent: 100, targetPercent: 50, ready: 2 },
  })
  await expect.poll(() => statusOf(web).phase).toBe('Running')
  const phases = (await eventsOf(store, tenant)).map(({ type }) => type)
  expect(phases).not.toContain('deployment.degraded')
})

test('idle replicas are removed after the delay, and not before', async () => {
  await addNodes(store, tenant, aNode('n1'), aNode('n2'))
  controllers = startControllers(store, { clock })
  const web = await startScaled('web')
  const rounds = startRounds()
  usage = REQUEST
  await runRounds(rounds, 1)
  await expect.poll(() => statusOf(web).replicas.ready).toBe(4)
  usage = 0
  await runRounds(rounds, 10)
  expect(desiredOf(web)).toBe(4)
  await runRounds(rounds, 1)
  expect(desiredOf(web)).toBe(2)
  await expect.poll(() => runningOf(store, tenant, web.uid).length).toBe(2)
})

test('rounds without a change write nothing, whatever the samples', async () => {
  await addNodes(store, tenant, aNode('n1'), aNode('n2'))
  controllers = startControllers(store, { clock })
  const web = await startScaled('web')
  const rounds = startRounds()
  await expect.poll(() => controllers.placing.pending).toBe(0)
  const writes = () =>
    [deployments.folder, 'place', 'evt'].map((folder) => [folder, changesOf.get(folder) ?? 0] as const)
  const changesOf = new Map<string, number>()
  const unwatch = store.subscribe((changes) => {
    for (const { key } of changes) changesOf.set(key.folder, (changesOf.get(key.folder) ?? 0) + 1)
  })
  for (const percent of [0.46, 0.5, 0.54, 0.1, 0.5, 0.45]) {
    usage = REQUEST * percent
    await runRounds(rounds, 5)
  }
  usage = undefined
  await runRounds(rounds, 10)
  await store.fresh()
  unwatch()
  expect(
    writes().every(([, count]) => count === 0),
    JSON.stringify(writes()),
  ).toBe(true)
  expect(desiredOf(web)).toBe(2)
})

test('one call per round asks about the deployments of all tenants', async () => {
  await addNodes(store, tenant, aNode('n1'))
  controllers = startControllers(store, { clock })
  await startScaled('web')
  const first = tenant
  tenant = await addTenant(store)
  await addNodes(store, tenant, aNode('m1'))
  await startScaled('shop')
  await runRounds(startRounds(), 3)
  expect(questions).toHaveLength(3)
  for (const asked of questions)
    expect(new Set(asked.map((node) => node.tenant))).toEqual(new Set([first, tenant]))
})

test('a holder of nodes that does not answer changes nothing, neither up nor down', async () => {
  await addNodes(store, tenant, aNode('n1'))
  controllers = startControllers(store, { clock })
  const web = await startScaled('web', { ...POLICY, min: 3 })
  const rounds = startRounds()
  usage = undefined
  await runRounds(rounds, 20)
  expect(desiredOf(web)).toBe(3)
  expect(rounds.decisions).toEqual(new Map([['no_samples', 20]]))
})

test('a new owner keeps the number and begins the delay again', async () => {
  await addNodes(store, tenant, aNode('n1'), aNode('n2'))
  controllers = startControllers(store, { clock })
  const web = await startScaled('web')
  const former = startRounds()
  usage = REQUEST
  await runRounds(former, 1)
  await expect.poll(() => statusOf(web).replicas.ready).toBe(4)
  usage = 0
  await runRounds(former, 6)
  const owner = startRounds()
  await runRounds(owner, 10)
  expect(desiredOf(web)).toBe(4)
  await runRounds(owner, 1)
  expect(desiredOf(web)).toBe(2)
})

test('a rollout holds the policy until its watch window is over', async () => {
  await addNodes(store, tenant, aNode('n1'), aNode('n2'))
  controllers = startControllers(store, { clock })
  const web = await startScaled('web')
  const rounds = startRounds()
  const next = await revise(store, tenant, web, { environment: { A: 'b' } })
  await expect.poll(() => placementOf(store, tenant, web.uid)?.rollout?.state).toBe('progressing')
  usage = REQUEST
  await runRounds(rounds, 2)
  expect(desiredOf(web)).toBe(2)
  expect([...rounds.decisions.keys()]).toEqual(['rollout'])
  await expect
    .poll(() => {
      clock.advance(WATCH_MS)
      return placementOf(store, tenant, web.uid)?.rollout
    })
    .toBeUndefined()
  await runRounds(rounds, 1)
  expect(desiredOf(next)).toBe(4)
})

test('a drain keeps replicas from being removed', async () => {
  const [node] = await addNodes(store, tenant, aNode('n1'))
  controllers = startControllers(store, { clock })
  const web = await startScaled('web', { ...POLICY, min: 1 })
  const rounds = startRounds()
  usage = REQUEST
  await runRounds(rounds, 1)
  await expect.poll(() => statusOf(web).replicas.ready).toBe(2)
  if (node === undefined) throw new Error('no node was added')
  await write(store, (transaction) =>
    transaction.put(inTenant(tenant, nodes, node.id), { ...node, schedulable: false, draining: true }),
  )
  usage = 0
  await runRounds(rounds, 15)
  expect(desiredOf(web)).toBe(2)
  expect(rounds.decisions.get('drain')).toBe(15)
})

test('a reached quota of containers bounds a step, also of two deployments in one round', async () => {
  await addNodes(store, tenant, aNode('n1'), aNode('n2'))
  controllers = startControllers(store, { clock })
  const web = await startScaled('web')
  const shop = await startScaled('shop')
  usage = REQUEST
  await runRounds(startRounds(3), 1)
  expect((desiredOf(web) ?? 0) + (desiredOf(shop) ?? 0)).toBe(7)
})

test('0 replicas in the spec stop the deployment, and the policy waits', async () => {
  await addNodes(store, tenant, aNode('n1'))
  controllers = startControllers(store, { clock })
  const web = await startScaled('web')
  const stopped = await revise(store, tenant, web, { replicas: 0 })
  usage = REQUEST
  const rounds = startRounds()
  await runRounds(rounds, 3)
  expect(statusOf(stopped).replicas.desired).toBe(0)
  await expect.poll(() => runningOf(store, tenant, web.uid).length).toBe(0)
  expect([...rounds.decisions.keys()]).toEqual(['stopped'])
})

test('a policy that is deleted during a round is not written again', async () => {
  await addNodes(store, tenant, aNode('n1'))
  controllers = startControllers(store, { clock })
  const web = await startScaled('web')
  usage = REQUEST
  const { leadership } = controllers
  const rounds = createScalingRounds({
    ...{ store, clock, nowMs: () => 0, onError: (error: unknown) => controllers.errors.push(error) },
    quotas: { list: () => ({ items: [{ kind: 'containers', used: 0, limit: 100 }] }) },
    leadership,
    async readUsageOfAll(asked, slots) {
      const { scaling: _policy, ...rest } = web
      await put(store, tenant, { ...rest, spec: { ...web.spec, replicas: 1 } })
      return readUsageOfAll(asked, slots)
    },
  })
  await rounds.run()
  await store.fresh()
  expect(store.get(inTenant(tenant, deployments, 'web'))?.record.scaling).toBeUndefined()
  expect(statusOf(web).replicas.desired).toBe(1)
  expect(controllers.errors).toEqual([])
})

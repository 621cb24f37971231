// Controllers place deployments without agents: the test writes node records directly to the store.

import type { Assignment, Candidate, NodeId, TenantId } from '@holdfast/contract'
import { finishRemovals } from '@holdfast/server/loops/finish-removals'
import { deployments, nodes, observations, removals } from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { globally, inTenant } from '@holdfast/server/store/transaction'
import { realClock as clock } from '@holdfast/server/system-clock'
import { uniqueName } from '@holdfast/testkit'
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
  write,
} from '@holdfast/testkit/controllers/placing-world'
import { UNSUSPENDED } from '@holdfast/testkit/controllers/timings'
import { openTestStore, type TestStore } from '@holdfast/testkit/store/open-test-store'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

let opened: TestStore
let store: Store
let tenant: TenantId
let controllers: Controllers

beforeEach(async () => {
  opened = await openTestStore({ root: `/${uniqueName('place')}` })
  store = opened.store
  tenant = await addTenant(store)
})

afterEach(async () => {
  await controllers.stop()
  opened.close()
})

const replicasOf = (assignments: readonly Assignment[]) => assignments.map(({ replica }) => replica).sort()
const settled = () => expect.poll(() => controllers.placing.pending).toBe(0)

describe('a deployment that fits', () => {
  test('is spread over the nodes of its own tenant, with complete container templates', async () => {
    const own = await addNodes(store, tenant, aNode('n1'), aNode('n2'), aNode('n3'))
    const other = await addTenant(store)
    await addNodes(store, other, aNode('foreign-1'), aNode('foreign-2'))
    controllers = startControllers(store)
    const { uid, spec } = await put(
      store,
      tenant,
      deploymentOf('web', { replicas: 3, environment: { A: 'b' } }),
    )
    await expect.poll(() => runningOf(store, tenant, uid).length).toBe(3)
    const placement = placementOf(store, tenant, uid)
    const assignments = placement?.assignments ?? []
    expect(new Set(assignments.map(({ nodeId }) => nodeId))).toEqual(new Set(own.map(({ id }) => id)))
    expect(replicasOf(assignments)).toEqual([1, 2, 3])
    const hashes = [...new Set(assignments.map(({ templateHash }) => templateHash))]
    expect(Object.keys(placement?.templates ?? {})).toEqual(hashes)
    expect(placement?.templates[hashes[0] ?? '']).toMatchObject({ name: spec.name, environment: { A: 'b' } })
    expect((await eventsOf(store, tenant)).map(({ type }) => type)).toEqual(['deployment.scheduled'])
  })

  test('is reported running when its agents report it, degraded when one does not, and running again', async () => {
    await addNodes(store, tenant, aNode('n1'), aNode('n2'))
    controllers = startControllers(store)
    const { uid } = await put(store, tenant, deploymentOf('web', { replicas: 2 }))
    await expect.poll(() => runningOf(store, tenant, uid).length).toBe(2)
    const [first, second] = runningOf(store, tenant, uid)
    if (first === undefined || second === undefined) throw new Error('fewer than two replicas were placed')
    await observe(store, tenant, uid, [first, second], { state: 'ready' })
    await expect.poll(() => placementOf(store, tenant, uid)?.reportedPhase).toBe('Running')
    await observe(store, tenant, uid, [second], { state: 'running', reason: 'exited', exitCode: 42, seq: 2 })
    await expect.poll(() => placementOf(store, tenant, uid)?.reportedPhase).toBe('Degraded')
    await observe(store, tenant, uid, [second], { state: 'ready', seq: 3 })
    await expect.poll(() => placementOf(store, tenant, uid)?.reportedPhase).toBe('Running')
    const emitted = await eventsOf(store, tenant)
    expect(emitted.map(({ type }) => type)).toEqual([
      'deployment.scheduled',
      'deployment.running',
      'deployment.degraded',
      'deployment.running',
    ])
    expect(emitted[2]).toMatchObject({
      reason: 'exited',
      severity: 'warning',
      data: { replica: second.replica, cause: 'exited with code 42' },
    })
  })

  test('fails once when its container exits a third time, and is running when a retry succeeds', async () => {
    await addNodes(store, tenant, aNode('n1'))
    controllers = startControllers(store)
    const { uid } = await put(store, tenant, deploymentOf('web', { replicas: 1 }))
    await expect.poll(() => runningOf(store, tenant, uid).length).toBe(1)
    const replicas = runningOf(store, tenant, uid)
    const exited = { state: 'running', reason: 'exited', exitCode: 42 } as const
    for (const restarts of [3, 4, 5]) {
      await observe(store, tenant, uid, replicas, { ...exited, restarts, seq: restarts })
      await expect.poll(() => placementOf(store, tenant, uid)?.rollout?.failure).toBeDefined()
    }
    await observe(store, tenant, uid, replicas, { state: 'ready', seq: 6 })
    await expect.poll(() => placementOf(store, tenant, uid)?.reportedPhase).toBe('Running')
    const emitted = await eventsOf(store, tenant)
    expect(emitted.map(({ type }) => type)).toEqual([
      'deployment.scheduled',
      'deployment.failed',
      'deployment.running',
    ])
    expect(emitted[1]).toMatchObject({
      severity: 'error',
      reason: 'exited',
      data: { revision: 1, replica: 1, cause: 'exited with code 42' },
    })
    expect(runningOf(store, tenant, uid)).toEqual(replicas)
  })

  test('adds replicas when scaled up, removes the highest numbers when scaled down, and leaves the others untouched', async () => {
    await addNodes(store, tenant, aNode('n1'), aNode('n2'))
    controllers = startControllers(store)
    const first = await put(store, tenant, deploymentOf('web', { replicas: 2 }))
    const { uid } = first
    await expect.poll(() => runningOf(store, tenant, uid).length).toBe(2)
    const before = runningOf(store, tenant, uid)
    const second = await revise(store, tenant, first, { replicas: 4 })
    await expect.poll(() => replicasOf(runningOf(store, tenant, uid))).toEqual([1, 2, 3, 4])
    expect(runningOf(store, tenant, uid).slice(0, 2)).toEqual(before)
    const third = await revise(store, tenant, second, { replicas: 1 })
    await expect.poll(() => replicasOf(runningOf(store, tenant, uid))).toEqual([1])
    const leaving = (placementOf(store, tenant, uid)?.assignments ?? []).slice(1)
    expect(leaving.map(({ desired }) => desired)).toEqual(['removed', 'removed', 'removed'])
    await observe(store, tenant, uid, leaving, { state: 'stopped', gone: true })
    await expect.poll(() => placementOf(store, tenant, uid)?.assignments).toEqual(before.slice(0, 1))
    for (const { id } of leaving) expect(store.get(inTenant(tenant, observations, id))).toBeUndefined()
    await revise(store, tenant, third, { replicas: 0 })
    await expect.poll(() => placementOf(store, tenant, uid)?.assignments[0]?.desired).toBe('removed')
    await observe(store, tenant, uid, before.slice(0, 1), { state: 'stopped', gone: true })
    await expect.poll(() => placementOf(store, tenant, uid)?.reportedPhase).toBe('Stopped')
    expect((await eventsOf(store, tenant)).at(-1)?.type).toBe('deployment.stopped')
  })

  test('is deleted after its agents have confirmed that its containers are gone, and not before', async () => {
    await addNodes(store, tenant, aNode('n1'))
    controllers = startControllers(store)
    const stored = await put(store, tenant, deploymentOf('web'))
    const { uid } = stored
    await expect.poll(() => runningOf(store, tenant, uid).length).toBe(1)
    const placed = runningOf(store, tenant, uid)
    await write(store, (transaction) => {
      transaction.put(inTenant(tenant, deployments, 'web'), { ...stored, deleting: true })
      transaction.put(globally(removals, uid), { v: 1, tenant, name: 'web' })
    })
    const finish = () => finishRemovals({ store, clock, removeTenantSecrets: async () => true })
    await expect.poll(() => runningOf(store, tenant, uid).length).toBe(0)
    await finish()
    await store.fresh()
    expect(store.get(inTenant(tenant, deployments, 'web'))).toBeDefined()
    await observe(store, tenant, uid, placed, { state: 'stopped', gone: true })
    await expect.poll(() => placementOf(store, tenant, uid)).toBeUndefined()
    await finish()
    await expect.poll(() => store.get(inTenant(tenant, deployments, 'web'))).toBeUndefined()
    expect((await eventsOf(store, tenant)).at(-1)?.type).toBe('deployment.deleted')
  })

  test('waits until a registry has resolved its image', async () => {
    await addNodes(store, tenant, aNode('n1'))
    controllers = startControllers(store)
    const unresolved = await put(store, tenant, { ...deploymentOf('web'), digest: null })
    const other = await put(store, tenant, deploymentOf('other'))
    await expect.poll(() => runningOf(store, tenant, other.uid).length).toBe(1)
    await settled()
    expect(placementOf(store, tenant, unresolved.uid)).toBeUndefined()
    await put(store, tenant, { ...unresolved, digest: `sha256:${'e'.repeat(64)}` })
    await expect.poll(() => runningOf(store, tenant, unresolved.uid).length).toBe(1)
  })

  test('gets replicas of a removed node elsewhere, under other ids', async () => {
    const [gone] = await addNodes(store, tenant, aNode('n1'))
    controllers = startControllers(store)
    const { uid } = await put(store, tenant, deploymentOf('web', { replicas: 2 }))
    await expect.poll(() => runningOf(store, tenant, uid).length).toBe(2)
    const before = runningOf(store, tenant, uid).map(({ id }) => id)
    const [next] = await addNodes(store, tenant, aNode('n2'))
    await write(store, (transaction) => transaction.delete(inTenant(tenant, nodes, gone?.id ?? '')))
    await expect
      .poll(() => runningOf(store, tenant, uid).map(({ nodeId }) => nodeId))
      .toEqual([next?.id, next?.id])
    expect(runningOf(store, tenant, uid).filter(({ id }) => before.includes(id))).toEqual([])
  })
})

const candidatesOf = (data: unknown): Candidate[] => (data as { candidates: Candidate[] }).candidates

describe('a deployment that fits nowhere', () => {
  const GIBIBYTE = 1024 ** 3
  const hungry = {
    resources: { cpuMillis: 2_000, memoryBytes: 4 * GIBIBYTE },
    placement: { constraints: [{ label: 'disk', operator: 'in' as const, values: ['ssd'] }] },
  }
  const ssd = { labels: { disk: 'ssd' } }
  const small = { capacity: { cpuMillis: 1_000, memoryBytes: GIBIBYTE } }

  test('is reported with all five nodes and all reasons, and one fix places it', async () => {
    const five = await addNodes(
      store,
      tenant,
      aNode('a', { ...ssd, schedulable: false }),
      aNode('b', { labels: { disk: 'hdd' }, ...small }),
      aNode('c', { ...ssd, status: 'unreachable', schedulable: false }),
      aNode('d', { ...ssd, ...small, controlPlane: true }),
      aNode('e', { status: 'pending' }),
    )
    controllers = startControllers(store, { timings: UNSUSPENDED })
    const { uid } = await put(store, tenant, deploymentOf('web', hungry))
    await expect.poll(() => placementOf(store, tenant, uid)?.shortfall?.reason).toBe('unschedulable')
    const [emitted] = await eventsOf(store, tenant)
    expect(emitted).toMatchObject({ type: 'deployment.unschedulable', subject: { name: 'web', uid } })
    const named = candidatesOf(emitted?.data)
    expect(named.map(({ nodeName, refusals }) => [nodeName, refusals.map(({ filter }) => filter)])).toEqual([
      ['a', ['cordon']],
      ['b', ['label_constraint', 'resources']],
      ['c', ['readiness', 'cordon']],
      ['d', ['control_plane_node', 'resources']],
      ['e', ['readiness', 'label_constraint']],
    ])
    for (const { required, reported, fix } of named.flatMap(({ refusals }) => refusals)) {
      expect(fix).not.toBe('')
      expect([required, reported]).not.toContain(undefined)
    }
    expect(runningOf(store, tenant, uid)).toEqual([])

    const [a] = five
    if (a === undefined) throw new Error('no nodes')
    // The change of the node wakes the placement: the next resync is an hour away.
    await write(store, (transaction) =>
      transaction.put(inTenant(tenant, nodes, a.id), { ...a, schedulable: true }),
    )
    await expect.poll(() => runningOf(store, tenant, uid).map(({ nodeId }) => nodeId)).toEqual([a.id])
    expect(placementOf(store, tenant, uid)).toMatchObject({ reportedRefusals: '', everAssigned: true })
    expect((await eventsOf(store, tenant)).map(({ type }) => type)).toEqual([
      'deployment.unschedulable',
      'deployment.scheduled',
    ])
  })

  test('without any node has an empty list and still an event, and the first node that fits resolves it', async () => {
    controllers = startControllers(store)
    const { uid } = await put(store, tenant, deploymentOf('web'))
    await expect.poll(async () => (await eventsOf(store, tenant)).length).toBe(1)
    const [emitted] = await eventsOf(store, tenant)
    expect(emitted?.type).toBe('deployment.unschedulable')
    expect(candidatesOf(emitted?.data)).toEqual([])
    await addNodes(store, tenant, aNode('n1'))
    await expect.poll(() => runningOf(store, tenant, uid).length).toBe(1)
  })

  test('because of an old agent is placed when the agent comes back upgraded, without a resync', async () => {
    const [a] = await addNodes(store, tenant, aNode('a', { agent: { version: '0.0.9', capabilities: [] } }))
    if (a === undefined) throw new Error('no node')
    controllers = startControllers(store, { resyncMs: 60_000 })
    const healthCheck = { type: 'exec', command: ['true'], interval: '10s', startPeriod: '0s' }
    const { uid } = await put(store, tenant, deploymentOf('web', { healthCheck }))
    await expect.poll(() => placementOf(store, tenant, uid)?.shortfall?.reason).toBe('unschedulable')
    await settled()
    const agent = { version: '0.1.0', capabilities: ['health_check'] }
    await write(store, (transaction) => transaction.put(inTenant(tenant, nodes, a.id), { ...a, agent }))
    await expect.poll(() => runningOf(store, tenant, uid).map(({ nodeId }) => nodeId)).toEqual([a.id])
  })

  test('has one event for a stable refusal, and another for another refusal', async () => {
    const [a] = await addNodes(store, tenant, aNode('a', { schedulable: false }))
    if (a === undefined) throw new Error('no node')
    controllers = startControllers(store, { resyncMs: 100 })
    const stored = await put(store, tenant, deploymentOf('web'))
    const { uid } = stored
    const own = async () => (await eventsOf(store, tenant)).filter(({ subject }) => subject.uid === uid)
    await expect.poll(() => placementOf(store, tenant, uid)?.reportedRefusals).toBeTruthy()
    // A new revision and several resyncs repeat the decision with the same refusal, so no second event is emitted.
    await revise(store, tenant, stored, { labels: { a: 'b' } })
    await expect.poll(() => placementOf(store, tenant, uid)?.revision).toBe(2)
    await settled()
    expect(await own()).toHaveLength(1)
    await write(store, (transaction) =>
      transaction.put(inTenant(tenant, nodes, a.id), { ...a, schedulable: false, status: 'unreachable' }),
    )
    await expect.poll(async () => (await own()).length).toBe(2)
  })

  test('is reported as stalled after later shortfalls, and freed capacity wakes waiting deployments', async () => {
    const room = { cpuMillis: 1_000, memoryBytes: 0 }
    await addNodes(store, tenant, aNode('n1', { capacity: { cpuMillis: 2_000, memoryBytes: GIBIBYTE } }))
    controllers = startControllers(store)
    const first = await put(store, tenant, deploymentOf('first', { resources: room, replicas: 2 }))
    await expect.poll(() => runningOf(store, tenant, first.uid).length).toBe(2)
    const wider = await revise(store, tenant, first, { replicas: 3 })
    await expect.poll(async () => (await eventsOf(store, tenant)).at(-1)?.type).toBe('deployment.stalled')
    const second = await put(store, tenant, deploymentOf('second', { resources: room }))
    await expect.poll(() => placementOf(store, tenant, second.uid)?.shortfall?.reason).toBe('unschedulable')
    await revise(store, tenant, wider, { replicas: 1 })
    const leaving = () =>
      (placementOf(store, tenant, first.uid)?.assignments ?? []).filter(
        ({ desired }) => desired === 'removed',
      )
    await expect.poll(() => leaving().length).toBe(1)
    expect(runningOf(store, tenant, second.uid)).toEqual([])
    await observe(store, tenant, first.uid, leaving(), { state: 'stopped', gone: true })
    await expect.poll(() => runningOf(store, tenant, second.uid).length).toBe(1)
  })

  test('at its quota starts no new container and stops none', async () => {
    await addNodes(store, tenant, aNode('n1'), aNode('n2'))
    controllers = startControllers(store, { containers: 3 })
    const many = await Promise.all(
      ['p', 'q', 'r'].map((name) => put(store, tenant, deploymentOf(name, { replicas: 2 }))),
    )
    const all = () => many.flatMap(({ uid }) => runningOf(store, tenant, uid))
    await expect.poll(() => all().length).toBe(3)
    await settled()
    expect(all().length).toBe(3)
    const short = many.map(({ uid }) => placementOf(store, tenant, uid)?.shortfall?.reason)
    expect(short.filter((reason) => reason === 'quota_reached').length).toBeGreaterThanOrEqual(1)
  })

  test('because of affinity waits for a replica of the other deployment and is placed beside it', async () => {
    await addNodes(store, tenant, aNode('n1'), aNode('n2'), aNode('n3'))
    controllers = startControllers(store)
    const web = await put(store, tenant, deploymentOf('web', { placement: { affinity: ['db'] } }))
    await expect.poll(() => placementOf(store, tenant, web.uid)?.shortfall?.reason).toBe('unschedulable')
    const db = await put(store, tenant, deploymentOf('db'))
    const nodeOf = (uid: typeof db.uid): NodeId | undefined => runningOf(store, tenant, uid)[0]?.nodeId
    await expect.poll(() => nodeOf(web.uid)).toBeDefined()
    expect(nodeOf(web.uid)).toBe(nodeOf(db.uid))
  })
})

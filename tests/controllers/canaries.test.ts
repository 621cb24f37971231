// The whole life of a canary with real controllers: its replicas beside the others, its phases, promotion, abort, and what
// happens to nodes and servers in between. Agents only send reports; the test sets the clock.

import {
  AGENT_CAPABILITIES,
  type Assignment,
  type AssignmentId,
  type ContainerTemplate,
  type DeploymentSpec,
  type JsonObject,
  type TenantId,
} from '@holdfast/contract'
import { createReaderViews } from '@holdfast/server/loops/controllers/placement/reader-views'
import { readWhy } from '@holdfast/server/operations/deployments/read/read-why'
import {
  nodes,
  type StoredCanary,
  type StoredDeployment,
  type StoredNode,
} from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { inTenant } from '@holdfast/server/store/transaction'
import { uniqueName } from '@holdfast/testkit'
import {
  type ObedientAgents,
  type Report,
  startObedientAgents,
} from '@holdfast/testkit/controllers/obedient-agents'
import {
  addNodes,
  addTenant,
  aNode,
  type ControllerOptions,
  type Controllers,
  deploymentOf,
  eventsOf,
  placementOf,
  put,
  runningOf,
  startControllers,
  write,
} from '@holdfast/testkit/controllers/placing-world'
import { createSetClock } from '@holdfast/testkit/controllers/set-clock'
import { promoteCanary, startCanary, storedOf } from '@holdfast/testkit/controllers/stored-canary'
import { openTestStore, type TestStore } from '@holdfast/testkit/store/open-test-store'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const MINUTE = 60_000
const UPDATE: DeploymentSpec['update'] = {
  order: 'start-first',
  parallelism: 1,
  failureAction: 'rollback',
  progressDeadline: '60s',
}
const NEW = { environment: { MODE: 'new' } }

let opened: TestStore
let store: Store
let tenant: TenantId
let controllers: Controllers
let clock: ReturnType<typeof createSetClock>
let agents: ObedientAgents[]
/** Replicas that were ready and fail during the test, with the report of their agent. */
let failing: Map<AssignmentId, Report>

beforeEach(async () => {
  opened = await openTestStore({ root: `/${uniqueName('canary')}` })
  store = opened.store
  tenant = await addTenant(store)
  clock = createSetClock()
  agents = []
  failing = new Map()
})
afterEach(async () => {
  for (const each of agents) await each.stop()
  await controllers.stop()
  opened.close()
  expect(controllers.errors).toEqual([])
})

const behave = ({ environment: { MODE = '' } }: ContainerTemplate, { id }: Assignment): Report =>
  failing.get(id) ?? (MODE === 'slow' ? { state: 'starting' } : {})

const stored = (): StoredDeployment => storedOf(store, tenant)
const phase = () => stored().canary?.phase
const all = () => runningOf(store, tenant, stored().uid)
const canaries = () => all().filter(({ canary }) => canary === true)
const others = () => all().filter(({ canary }) => canary !== true)
const idsOf = (assignments: readonly Assignment[]) => assignments.map(({ id }) => id).sort()
const settled = () => expect.poll(() => controllers.placing.pending).toBe(0)
const lastGood = () => placementOf(store, tenant, stored().uid)?.lastGood?.revision

interface World {
  readonly own: ObedientAgents
  readonly machines: StoredNode[]
}

/** A deployment with three replicas whose first revision has passed its watch window. */
async function running(spec: Partial<DeploymentSpec> = {}, options: ControllerOptions = {}): Promise<World> {
  const agent = { version: '1.0.0', capabilities: [...AGENT_CAPABILITIES] }
  const machines = await addNodes(
    store,
    tenant,
    ...[1, 2, 3, 4].map((index) => aNode(uniqueName(`n${index}`), { agent })),
  )
  controllers = startControllers(store, { clock, ...options })
  const first = await put(store, tenant, deploymentOf('web', { replicas: 3, update: UPDATE, ...spec }))
  const own = startObedientAgents(store, tenant, first.uid, behave)
  agents.push(own)
  await expect.poll(() => placementOf(store, tenant, first.uid)?.reportedPhase).toBe('Running')
  await settled()
  clock.advance(MINUTE / 2)
  await expect.poll(lastGood).toBe(1)
  own.fewestServed()
  return { own, machines }
}

const start = (change: JsonObject = NEW, over: Partial<StoredCanary> = {}) =>
  startCanary(store, tenant, clock, change, over)
const promote = () => promoteCanary(store, tenant)

async function setNode(node: StoredNode | undefined, over: Partial<StoredNode>): Promise<void> {
  if (node === undefined) throw new Error('no such node')
  await write(store, (transaction) => transaction.put(inTenant(tenant, nodes, node.id), { ...node, ...over }))
}

async function observed(): Promise<void> {
  await expect.poll(phase).toBe('observing')
  await settled()
  clock.advance(10 * MINUTE)
  await expect.poll(phase).toBe('ready')
}

const story = async () =>
  (await eventsOf(store, tenant))
    .filter(({ type }) => type.includes('canary'))
    .map(({ type, reason }) => `${type.replace('deployment.canary_', '')} ${reason}`)

/** The answer to `GET /deployments/web/why`. */
async function why() {
  const quotas = { limit: () => 1_000, list: () => ({ items: [] }) }
  const residency = { enforcement: true, regions: {} }
  const readUsage = async () => ({ nodes: new Map(), unreachable: [] })
  const deps = { store, clock, quotas, residency, readUsage, views: createReaderViews(store, quotas) }
  const read = await readWhy(deps, tenant, 'web', { limit: 100 })
  if (!read.ok) throw new Error('the read was rejected')
  return read.value
}

describe('a canary', () => {
  test('without a node is explained for each node, although the deployment runs', async () => {
    await running()
    expect(await why()).toMatchObject({ phase: 'Running', candidates: [], cure: [] })
    await start({ resources: { cpuMillis: 1_000_000, memoryBytes: 1 } })
    await expect.poll(() => stored().canary?.reason).toBe('unschedulable')
    const explained = await why()
    expect(explained.phase).toBe('Running')
    expect(explained.canary).toContain('No node accepts one of its replicas. 0 of 4 nodes fit: 4 ')
    expect(explained.candidates).toHaveLength(4)
    expect(explained.cure).not.toEqual([])
  })

  test('runs beside the others, is observed, and its promotion keeps its replicas', async () => {
    const { own } = await running()
    const before = idsOf(others())
    await start()
    await observed()
    expect(idsOf(others())).toEqual(before)
    expect(canaries().map(({ replica }) => replica)).toEqual([1, 2])
    const kept = idsOf(canaries())
    await promote()
    await expect.poll(() => all().map(({ revision }) => revision)).toEqual([2, 2, 2])
    await expect.poll(() => placementOf(store, tenant, stored().uid)?.assignments.length).toBe(3)
    expect(idsOf(all())).toEqual(expect.arrayContaining(kept))
    expect(canaries()).toEqual([])
    expect(own.fewestServed()).toBe(3)
    expect(await story()).toEqual(['ready observed'])
    await settled()
    clock.advance(MINUTE / 2)
    await expect.poll(lastGood).toBe(2)
  })

  test('with its own version of a secret keeps its replicas when it is promoted', async () => {
    const secrets = [{ name: 'DB', vault_path: 'deployments/db', anchor: 'process', rotation: 'restart' }]
    const { own } = await running({ secrets })
    await start({ secrets }, { pins: { db: 2 } })
    await observed()
    const kept = idsOf(canaries())
    const versions = () =>
      all().map(({ templateHash }) => {
        const template = placementOf(store, tenant, stored().uid)?.templates[templateHash]
        return template?.secrets?.map(({ version }) => version)
      })
    expect(versions().toSorted()).toEqual([[null], [null], [null], [2], [2]])
    await promote()
    await expect.poll(() => all().map(({ revision }) => revision)).toEqual([2, 2, 2])
    await expect.poll(versions).toEqual([[2], [2], [2]])
    expect(idsOf(all())).toEqual(expect.arrayContaining(kept))
    expect(own.fewestServed()).toBe(3)
  })

  test.each<[string, Report, string]>([
    ['turns unhealthy', { reason: 'unhealthy' }, 'unhealthy'],
    ['exits once', { state: 'ready', reason: 'exited', restarts: 1 }, 'exited'],
    ['cannot run', { state: 'failed', reason: 'volume_not_mounted' }, 'volume_not_mounted'],
  ])('that %s is aborted, and the others are left alone', async (_name, report, reason) => {
    const { own } = await running()
    const before = idsOf(others())
    await start()
    await expect.poll(phase).toBe('observing')
    const [first] = canaries()
    if (first === undefined) throw new Error('no replica of the canary')
    failing.set(first.id, report)
    own.reconcile()
    await expect.poll(phase).toBe('aborted')
    await expect.poll(() => placementOf(store, tenant, stored().uid)?.assignments.length).toBe(3)
    expect(idsOf(all())).toEqual(before)
    expect(own.fewestServed()).toBe(3)
    expect(stored().canary).toMatchObject({ reason, failures: [{ replica: 1, reason }] })
    expect(await story()).toEqual([`aborted ${reason}`])
  })

  test('that does not become ready in time is aborted', async () => {
    await running()
    await start({ environment: { MODE: 'slow' } })
    await expect.poll(() => canaries().length).toBe(2)
    await settled()
    clock.advance(MINUTE)
    await expect.poll(phase).toBe('aborted')
    expect(stored().canary?.reason).toBe('progress_deadline')
    await expect.poll(() => all().length).toBe(3)
  })

  test('counts for the quota, waits for room and is aborted without it', async () => {
    await running({}, { containers: 4 })
    await start()
    await expect.poll(() => stored().canary?.reason).toBe('unschedulable')
    expect(canaries()).toHaveLength(1)
    await settled()
    clock.advance(MINUTE)
    await expect.poll(phase).toBe('aborted')
    expect(others()).toHaveLength(3)
  })

  test('is superseded by another revision', async () => {
    const { own } = await running()
    await start()
    await expect.poll(phase).toBe('observing')
    const before = stored()
    const canary = before.canary && { ...before.canary, phase: 'aborted' as const, reason: 'superseded' }
    await put(store, tenant, {
      ...before,
      ...(canary && { canary }),
      revision: 2,
      spec: { ...before.spec, environment: { MODE: 'other' } },
    })
    await expect.poll(() => all().map(({ revision }) => revision)).toEqual([2, 2, 2])
    await expect.poll(() => placementOf(store, tenant, before.uid)?.assignments.length).toBe(3)
    expect(canaries()).toEqual([])
    expect(own.fewestServed()).toBe(3)
  })

  test('is removed with its deployment', async () => {
    await running()
    await start()
    await expect.poll(phase).toBe('observing')
    await put(store, tenant, { ...stored(), deleting: true })
    await expect.poll(() => placementOf(store, tenant, stored().uid)).toBeUndefined()
  })
})

describe('in the middle of a canary', () => {
  test('a lost node moves its replicas, the observation begins again, and the promotion works', async () => {
    const { own, machines } = await running()
    await start()
    await expect.poll(phase).toBe('observing')
    const [first] = canaries()
    const lost = machines.find(({ id }) => id === first?.nodeId)
    await setNode(lost, { status: 'failed' })
    await expect
      .poll(() => canaries().every(({ nodeId }) => nodeId !== lost?.id) && canaries().length)
      .toBe(2)
    own.reconcile()
    await observed()
    await promote()
    await expect.poll(() => all().map(({ revision }) => revision)).toEqual([2, 2, 2])
    expect(stored().canary).toBeUndefined()
  })

  test('a drain moves its replicas as those of the deployment', async () => {
    const { own, machines } = await running()
    await start()
    await expect.poll(phase).toBe('observing')
    const drained = machines.find(({ id }) => id === canaries()[0]?.nodeId)
    await setNode(drained, { schedulable: false, draining: true })
    await expect.poll(() => all().filter(({ nodeId }) => nodeId === drained?.id)).toEqual([])
    expect(canaries()).toHaveLength(2)
    expect(others()).toHaveLength(3)
    expect(own.fewestServed()).toBe(3)
    expect(phase()).not.toBe('aborted')
  })

  test.each(['progressing', 'observing', 'ready'] as const)(
    'another owner continues a canary in phase %s',
    async (at) => {
      const { own } = await running()
      if (at === 'progressing') own.hold()
      await start()
      if (at === 'observing') await expect.poll(phase).toBe('observing')
      if (at === 'ready') await observed()
      await expect.poll(() => canaries().length).toBe(2)
      const kept = idsOf(canaries())
      await settled()
      await controllers.stop()
      controllers = startControllers(store, { clock, replica: 'two' })
      if (at === 'progressing') await own.act()
      if (at === 'progressing') await expect.poll(phase).toBe('observing')
      if (at !== 'ready') {
        await settled()
        clock.advance(10 * MINUTE)
      }
      await expect.poll(phase).toBe('ready')
      expect(idsOf(canaries())).toEqual(kept)
      expect(await story()).toEqual(['ready observed'])
    },
  )
})

describe('in the middle of a promotion', () => {
  /** Agents report nothing after the promotion, so its rollout has adopted the canary and waits for the third replica. */
  async function promoting(): Promise<World> {
    const world = await running()
    await start()
    await observed()
    world.own.fewestServed()
    world.own.hold()
    await promote()
    await expect.poll(() => newOf(3)?.id).toBeDefined()
    expect(canaries()).toEqual([])
    return world
  }
  const newOf = (number: number) => all().find((each) => each.revision === 2 && each.replica === number)

  /** Lets agents act until exactly three replicas run, all with this value of MODE, and the rollout has ended. */
  async function endsWith({ own }: World, mode: string | undefined): Promise<void> {
    const isOver = () => {
      const { templates = {}, rollout } = placementOf(store, tenant, stored().uid) ?? {}
      const modes = all().map(({ templateHash }) => templates[templateHash]?.environment['MODE'])
      return rollout?.state !== 'progressing' && modes.length === 3 && modes.every((each) => each === mode)
    }
    await expect
      .poll(async () => {
        await own.act()
        clock.advance(1_000)
        return isOver()
      })
      .toBe(true)
    expect(
      all()
        .map(({ replica }) => replica)
        .toSorted(),
    ).toEqual([1, 2, 3])
  }

  test('a lost node of an adopted replica is replaced, and the rollout ends', async () => {
    const world = await promoting()
    const lost = world.machines.find(({ id }) => id === newOf(1)?.nodeId)
    await setNode(lost, { status: 'failed' })
    await endsWith(world, 'new')
    expect(all().every(({ nodeId }) => nodeId !== lost?.id)).toBe(true)
    await expect.poll(lastGood).toBe(2)
  })

  test('a drain moves adopted replicas, and the rollout ends', async () => {
    const world = await promoting()
    const drained = world.machines.find(({ id }) => id === newOf(1)?.nodeId)
    await setNode(drained, { schedulable: false, draining: true })
    await endsWith(world, 'new')
    expect(all().every(({ nodeId }) => nodeId !== drained?.id)).toBe(true)
    expect(world.own.fewestServed()).toBe(3)
  })

  test('another owner keeps the adopted replicas', async () => {
    const world = await promoting()
    const kept = [newOf(1)?.id, newOf(2)?.id]
    await settled()
    await controllers.stop()
    controllers = startControllers(store, { clock, replica: 'two' })
    await endsWith(world, 'new')
    expect(idsOf(all())).toEqual(expect.arrayContaining(kept))
    expect(world.own.fewestServed()).toBe(3)
  })

  test('a replica that fails rolls the deployment back, adopted replicas included', async () => {
    const world = await promoting()
    const third = newOf(3)
    if (third === undefined) throw new Error('no third replica')
    failing.set(third.id, { reason: 'unhealthy' })
    await endsWith(world, undefined)
    expect(placementOf(store, tenant, stored().uid)?.rollout?.state).toBe('rolling_back')
    expect(world.own.fewestServed()).toBe(3)
    expect((await eventsOf(store, tenant)).map(({ type }) => type)).toContain('deployment.rolled_back')
  })

  test('a rollback by a client replaces adopted replicas', async () => {
    const world = await promoting()
    const { environment: _new, ...spec } = stored().spec
    await put(store, tenant, { ...stored(), revision: 3, spec })
    await endsWith(world, undefined)
    expect(world.own.fewestServed()).toBe(3)
    await expect.poll(lastGood).toBe(3)
  })
})

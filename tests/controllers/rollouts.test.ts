// How one revision of a deployment replaces another: the order, the replicas that keep running, the consequences of a
// failure and the events. Agents only send reports; the test sets the clock.

import type {
  Assignment,
  AssignmentId,
  ContainerTemplate,
  DeploymentSpec,
  TenantId,
} from '@holdfast/contract'
import { nodes, type StoredDeployment, type StoredNode } from '@holdfast/server/store/records'
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
  observe,
  placementOf,
  put,
  revise,
  runningOf,
  startControllers,
  write,
} from '@holdfast/testkit/controllers/placing-world'
import { createSetClock } from '@holdfast/testkit/controllers/set-clock'
import { openTestStore, type TestStore } from '@holdfast/testkit/store/open-test-store'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const MINUTE = 60_000
let opened: TestStore
let store: Store
let tenant: TenantId
let controllers: Controllers
let clock: ReturnType<typeof createSetClock>
let agents: ObedientAgents[]

beforeEach(async () => {
  opened = await openTestStore({ root: `/${uniqueName('rollout')}` })
  store = opened.store
  tenant = await addTenant(store)
  clock = createSetClock()
  agents = []
})

afterEach(async () => {
  for (const each of agents) await each.stop()
  await controllers.stop()
  opened.close()
  expect(controllers.errors).toEqual([])
})

/** The report that agents send for a replica, by the value of MODE in its environment. */
const REPORTS: { readonly [mode: string]: Report } = {
  unhealthy: { state: 'running', reason: 'unhealthy' },
  exits: { state: 'running', reason: 'exited', restarts: 3 },
  starting: { state: 'starting' },
  pulling: { state: 'pulling', reason: 'image_pull_failed' },
}
const behave = ({ environment: { MODE = '' } }: ContainerTemplate, { id }: Assignment): Report => {
  if (failing.has(id)) return { reason: 'unhealthy' }
  return MODE === '' ? {} : REPORTS[MODE]
}
/** Replicas that were ready and become unhealthy during the test. */
const failing = new Set<AssignmentId>()
function failFirst(own: ObedientAgents, [first]: readonly Assignment[]): void {
  if (first === undefined) throw new Error('no replica to fail')
  failing.add(first.id)
  own.reconcile()
}
const mode = (MODE: string) => ({ environment: { MODE, VERSION: '2' } })
const UPDATE: DeploymentSpec['update'] = {
  order: 'start-first',
  parallelism: 1,
  failureAction: 'rollback',
  progressDeadline: '60s',
}

const hashesOf = (uid: StoredDeployment['uid']) =>
  new Set(runningOf(store, tenant, uid).map(({ templateHash }) => templateHash))
const rolloutOf = (uid: StoredDeployment['uid']) => placementOf(store, tenant, uid)?.rollout
const lastGoodOf = (uid: StoredDeployment['uid']) => placementOf(store, tenant, uid)?.lastGood?.revision
const phaseOf = (uid: StoredDeployment['uid']) => placementOf(store, tenant, uid)?.reportedPhase
const settled = () => expect.poll(() => controllers.placing.pending).toBe(0)

interface Options extends ControllerOptions {
  readonly nodes?: number
}

/** Creates a deployment whose first revision has passed its watch window. */
async function running(spec: Partial<DeploymentSpec> = {}, options: Options = {}) {
  const { nodes: count = 3, ...more } = options
  const added = await addNodes(
    store,
    tenant,
    ...Array.from({ length: count }, (_, index) => aNode(uniqueName(`n${index + 1}`))),
  )
  controllers = startControllers(store, { clock, ...more })
  const first = await put(store, tenant, deploymentOf('web', { replicas: 3, update: UPDATE, ...spec }))
  const own = startObedientAgents(store, tenant, first.uid, behave)
  agents.push(own)
  await expect.poll(() => phaseOf(first.uid)).toBe('Running')
  await beGood(first)
  own.fewestServed()
  return { first, uid: first.uid, own, added }
}

/** Waits until all replicas have the revision and are ready, and no other replica is left. */
async function rolledOut({ uid, spec, revision }: StoredDeployment): Promise<void> {
  const shown = () => ({
    phase: phaseOf(uid),
    revisions: placementOf(store, tenant, uid)?.assignments.map((each) => each.revision),
  })
  const revisions = Array.from({ length: spec.replicas }, () => revision)
  await expect.poll(shown).toEqual({ phase: 'Running', revisions })
}

async function beGood({ uid, revision }: StoredDeployment): Promise<void> {
  await settled()
  clock.advance(MINUTE / 2)
  await expect.poll(() => lastGoodOf(uid)).toBe(revision)
}

const storyOf = async (uid: string, since: number) => {
  const emitted = (await eventsOf(store, tenant)).filter(({ subject }) => subject.uid === uid)
  return emitted.slice(since).map(({ type, reason }) => `${type.replace('deployment.', '')} ${reason}`)
}
const countEvents = async () => (await eventsOf(store, tenant)).length

describe('a rollout of another image', () => {
  test('start-first replaces one after the other, never has fewer ready than desired, and ends good', async () => {
    const { first, uid, own } = await running()
    const old = runningOf(store, tenant, uid)
    const since = await countEvents()
    const second = await revise(store, tenant, first, mode(''))
    await rolledOut(second)
    expect(own.fewestServed()).toBe(3)
    const now = runningOf(store, tenant, uid)
    expect(now.filter(({ id }) => old.some((each) => each.id === id))).toEqual([])
    expect(lastGoodOf(uid)).toBe(1)
    await beGood(second)
    expect(rolloutOf(uid)).toBeUndefined()
    expect(Object.keys(placementOf(store, tenant, uid)?.templates ?? {})).toHaveLength(1)
    expect(await storyOf(uid, since)).toEqual([
      'progressing rollout_started',
      'scheduled scheduled',
      'progressing rollout_step',
      'scheduled scheduled',
      'progressing rollout_step',
      'scheduled scheduled',
      'progressing rollout_step',
      'running running',
    ])
  })

  test('keeps replicas spread: each successor may use the node that it frees', async () => {
    const { first, uid } = await running()
    let last = first
    for (const round of ['a', 'b', 'c']) {
      last = await revise(store, tenant, last, { environment: { ROUND: round } })
      await rolledOut(last)
      const nodesNow = runningOf(store, tenant, uid).map(({ nodeId }) => nodeId)
      expect(new Set(nodesNow).size).toBe(3)
    }
  })

  test('with parallelism two has never more than two beside the old ones', async () => {
    const { first, uid, own } = await running({ replicas: 4, update: { ...UPDATE, parallelism: 2 } })
    let most = 0
    const unwatch = store.subscribe(() => {
      most = Math.max(most, runningOf(store, tenant, uid).length)
    })
    await rolledOut(await revise(store, tenant, first, mode('')))
    unwatch()
    expect(most).toBe(6)
    expect(own.fewestServed()).toBe(4)
  })

  test('stop-first starts a successor after the old one is confirmed gone, one at a time', async () => {
    const { first, uid, own } = await running({ update: { ...UPDATE, order: 'stop-first' } })
    let most = 0
    const unwatch = store.subscribe(() => {
      most = Math.max(most, placementOf(store, tenant, uid)?.assignments.length ?? 0)
    })
    await rolledOut(await revise(store, tenant, first, mode('')))
    unwatch()
    expect(most).toBe(3)
    expect(own.fewestServed()).toBe(2)
  })

  const STOPPED_FIRST: [string, Partial<DeploymentSpec>, Options][] = [
    ['as configured', { update: { ...UPDATE, order: 'stop-first' } }, {}],
    ['for the quota', {}, { containers: 2 }],
  ]
  test.each(STOPPED_FIRST)(
    'keeps serving replicas while no node fits their successor, %s',
    async (_, spec, options) => {
      const { first, uid, added } = await running({ replicas: 2, ...spec }, { nodes: 1, ...options })
      const before = runningOf(store, tenant, uid)
      await change(added[0], { schedulable: false })
      const second = await revise(store, tenant, first, mode(''))
      await expect.poll(() => placementOf(store, tenant, uid)?.shortfall?.summary).toContain('cordoned')
      await settled()
      expect(runningOf(store, tenant, uid)).toEqual(before)
      await change(added[0], { schedulable: true })
      await rolledOut(second)
    },
  )

  test('stops the old replica first with one replica per node, and nothing stalls', async () => {
    const { first, uid, own } = await running({ placement: { antiAffinity: ['web'] } })
    const since = await countEvents()
    const second = await revise(store, tenant, first, mode(''))
    await rolledOut(second)
    expect(own.fewestServed()).toBe(2)
    expect(new Set(runningOf(store, tenant, uid).map(({ nodeId }) => nodeId)).size).toBe(3)
    const emitted = (await eventsOf(store, tenant)).slice(since)
    expect(emitted.filter(({ message }) => message.includes('is stopped first'))).toHaveLength(3)
    expect((await storyOf(uid, since)).filter((text) => text.startsWith('stalled'))).toEqual([])
  })

  test('a drained node keeps its replica if no other node fits', async () => {
    const { uid, added } = await running({ placement: { antiAffinity: ['web'] } })
    const before = runningOf(store, tenant, uid)
    const [node] = added
    if (node === undefined) throw new Error('no node')
    const closed = { ...node, schedulable: false, draining: true }
    await write(store, (transaction) => transaction.put(inTenant(tenant, nodes, node.id), closed))
    await expect.poll(() => placementOf(store, tenant, uid)?.shortfall?.reason).toBe('unschedulable')
    await settled()
    expect(runningOf(store, tenant, uid)).toEqual(before)
  })

  test('a reached quota forces stop-first, with one event', async () => {
    const { first, uid, own } = await running({}, { containers: 3 })
    const since = await countEvents()
    await rolledOut(await revise(store, tenant, first, mode('')))
    expect(own.fewestServed()).toBe(2)
    const emitted = (await storyOf(uid, since)).filter((text) => text.startsWith('quota'))
    expect(emitted).toEqual(['quota.reached quota_reached'])
  })

  test('a second PUT supersedes the first: unready replicas go, serving ones stay until the newest is ready', async () => {
    const { first, uid, own } = await running()
    const second = await revise(store, tenant, first, mode('starting'))
    await expect.poll(() => runningOf(store, tenant, uid).length).toBe(4)
    await rolledOut(await revise(store, tenant, second, mode('')))
    expect(own.fewestServed()).toBe(3)
  })

  test('replicas added during a rollout have the new revision, and scaling alone restarts nothing', async () => {
    const { first, uid, own } = await running({ replicas: 2 })
    const second = await revise(store, tenant, first, mode('starting'))
    await expect.poll(() => runningOf(store, tenant, uid).length).toBe(3)
    const third = await revise(store, tenant, second, { replicas: 4 })
    await expect.poll(() => runningOf(store, tenant, uid).length).toBe(5)
    const scaled = runningOf(store, tenant, uid).filter(({ replica }) => replica > 2)
    expect(scaled.map(({ templateHash }) => templateHash)).toEqual(
      Array.from({ length: 2 }, () => rolloutOf(uid)?.templateHash),
    )
    const fourth = await revise(store, tenant, third, mode(''))
    await rolledOut(fourth)
    await beGood(fourth)
    expect(own.fewestServed()).toBe(2)
    const before = runningOf(store, tenant, uid)
    const fifth = await revise(store, tenant, fourth, { replicas: 5 })
    await expect.poll(() => runningOf(store, tenant, uid).length).toBe(5)
    await revise(store, tenant, fifth, { replicas: 4 })
    await expect.poll(() => runningOf(store, tenant, uid).length).toBe(4)
    expect(runningOf(store, tenant, uid)).toEqual(before)
  })

  test('a changed grace period restarts nothing and applies to containers created from then on', async () => {
    const { first, uid } = await running()
    await revise(store, tenant, first, { replicas: 4, stopGracePeriod: '77s' })
    await expect.poll(() => runningOf(store, tenant, uid).length).toBe(4)
    expect(hashesOf(uid).size).toBe(1)
    const templates = Object.values(placementOf(store, tenant, uid)?.templates ?? {})
    expect(templates.map(({ stopGracePeriod }) => stopGracePeriod)).toEqual(['77s'])
  })

  test('an update, a restart and a rotation recreate the replicas of a node that became a control-plane node', async () => {
    const secrets = [{ name: 'DB', vault_path: 'deployments/db', anchor: 'process', rotation: 'restart' }]
    const { first, uid, added } = await running({ secrets }, { nodes: 1 })
    const [node] = added
    if (node === undefined) throw new Error('no node')
    await write(store, (transaction) =>
      transaction.put(inTenant(tenant, nodes, node.id), { ...node, controlPlane: true }),
    )
    const second = await revise(store, tenant, first, mode(''))
    await rolledOut(second)
    const third = await put(store, tenant, { ...second, revision: 3, restartRevision: 3 })
    await rolledOut(third)
    await rolledOut(await put(store, tenant, { ...third, revision: 4, pins: { db: 2 } }))
    expect(runningOf(store, tenant, uid).map(({ nodeId }) => nodeId)).toEqual([node.id, node.id, node.id])
  })

  test('a restart replaces all replicas with the same spec', async () => {
    const { first, uid, own } = await running()
    const old = hashesOf(uid)
    await rolledOut(await put(store, tenant, { ...first, revision: 2, restartRevision: 2 }))
    expect([...hashesOf(uid)]).not.toEqual([...old])
    expect(own.fewestServed()).toBe(3)
  })
})

describe('a broken image', () => {
  test.each([
    ['unhealthy', 'unhealthy', 0, 'Correct the spec'],
    ['exits', 'exited', 0, 'Correct the spec'],
    ['pulling', 'image_pull_failed', MINUTE, 'Check that the registry has the complete image'],
    ['starting', 'progress_deadline', MINUTE, 'Correct the spec'],
  ])(
    'with failure %s is rolled back automatically, with reason and remedy',
    async (how, reason, wait, remedy) => {
      const { first, uid, own } = await running()
      const since = await countEvents()
      const old = runningOf(store, tenant, uid)
      const second = await revise(store, tenant, first, mode(how))
      await expect.poll(() => phaseOf(uid)).not.toBe('Running')
      await settled()
      clock.advance(wait)
      await expect.poll(() => rolloutOf(uid)?.state).toBe('rolling_back')
      expect(rolloutOf(uid)?.failure).toMatchObject({ reason, replica: 1 })
      await expect.poll(() => placementOf(store, tenant, uid)?.assignments).toEqual(old)
      expect(own.fewestServed()).toBe(3)
      expect(lastGoodOf(uid)).toBe(1)
      expect(phaseOf(uid)).toBe('Degraded')
      const story = await storyOf(uid, since)
      expect(story).toContain('rolled_back rollback')
      expect(story).not.toContain('degraded rollback')
      const emitted = (await eventsOf(store, tenant)).find(({ type }) => type === 'deployment.rolled_back')
      expect(emitted?.message).toMatch(/Revision 2 failed after .* replica 1 on n.* return to revision 1/)
      expect(emitted?.message).toContain(remedy)
      // A new revision ends the failed state of the rollout.
      await rolledOut(await revise(store, tenant, second, mode('')))
      expect(own.fewestServed()).toBe(3)
    },
  )

  test('that becomes unhealthy during the watch window is rolled back too, with the same gates', async () => {
    const { first, uid, own } = await running()
    await rolledOut(await revise(store, tenant, first, mode('')))
    own.fewestServed()
    failFirst(own, runningOf(store, tenant, uid))
    await expect.poll(() => rolloutOf(uid)?.state).toBe('rolling_back')
    await expect
      .poll(() => placementOf(store, tenant, uid)?.assignments.map(({ revision }) => revision))
      .toEqual([1, 1, 1])
    expect(own.fewestServed()).toBe(2)
  })

  test('is paused if requested, and stays for inspection', async () => {
    const { first, uid, own } = await running({ update: { ...UPDATE, failureAction: 'pause' } })
    const second = await revise(store, tenant, first, mode('unhealthy'))
    await expect.poll(() => rolloutOf(uid)?.state).toBe('paused')
    await settled()
    clock.advance(10 * MINUTE)
    await settled()
    expect(runningOf(store, tenant, uid).map(({ revision }) => revision)).toEqual([1, 1, 1, 2])
    expect(own.fewestServed()).toBe(3)
    const emitted = (await eventsOf(store, tenant)).find(({ type }) => type === 'deployment.stalled')
    expect(emitted).toMatchObject({ reason: 'update_paused', severity: 'error' })
    expect(emitted?.message).toContain('logs')
    await rolledOut(await revise(store, tenant, second, mode('')))
  })

  test('whose successor finds no node fails at the deadline', async () => {
    const { first, uid, own } = await running()
    const resources = { cpuMillis: 1_000_000, memoryBytes: 0 }
    await revise(store, tenant, first, { ...mode(''), resources })
    await expect.poll(() => placementOf(store, tenant, uid)?.shortfall?.reason).toBe('unschedulable')
    clock.advance(MINUTE)
    await expect.poll(() => rolloutOf(uid)?.failure?.reason).toBe('unschedulable')
    expect(own.fewestServed()).toBe(3)
  })
})

const change = (node: StoredNode | undefined, changes: Partial<StoredNode>) =>
  write(store, (transaction) => {
    if (node !== undefined) transaction.put(inTenant(tenant, nodes, node.id), { ...node, ...changes })
  })

describe('a dependency', () => {
  const gated = { dependsOn: { web: 'healthy' as const, other: 'started' as const }, update: UPDATE }
  const waitsFor = (uid: StoredDeployment['uid']) => placementOf(store, tenant, uid)?.shortfall?.summary

  test('is waited for at the start and when replicas are recreated, and not in between', async () => {
    const { uid, own } = await running({ replicas: 2 })
    const late = await put(store, tenant, deploymentOf('late', gated))
    await expect.poll(() => phaseOf(late.uid)).toBe('Waiting')
    expect(waitsFor(late.uid)).toContain('other must be started but does not exist')
    const other = await put(store, tenant, deploymentOf('other'))
    await expect.poll(() => waitsFor(late.uid)).toContain('has 0 of 1 replicas running')
    expect(runningOf(store, tenant, late.uid)).toEqual([])
    await observe(store, tenant, other.uid, runningOf(store, tenant, other.uid), { state: 'running' })
    await expect.poll(() => runningOf(store, tenant, late.uid).length).toBe(1)
    agents.push(startObedientAgents(store, tenant, late.uid, behave))
    await rolledOut(late)
    // If the dependency fails later, running replicas stay, and only new replicas wait.
    const before = runningOf(store, tenant, late.uid)
    failFirst(own, runningOf(store, tenant, uid))
    await expect.poll(() => phaseOf(uid)).toBe('Degraded')
    await settled()
    expect(phaseOf(late.uid)).toBe('Running')
    const second = await revise(store, tenant, late, mode(''))
    await expect.poll(() => waitsFor(late.uid)).toContain('web must be healthy but has 1 of 2 replicas ready')
    clock.advance(10 * MINUTE)
    await settled()
    expect(runningOf(store, tenant, late.uid)).toEqual(before)
    failing.clear()
    own.reconcile()
    await rolledOut(second)
    expect(rolloutOf(late.uid)?.failure).toBeUndefined()
  })

  test('is not healthy while its node is lost, and is again when the node returns', async () => {
    const resources = { cpuMillis: 100, memoryBytes: 0 }
    const { uid, added } = await running({ replicas: 1, resources }, { nodes: 1 })
    await change(added[0], { status: 'failed' })
    await expect.poll(() => phaseOf(uid)).toBe('Degraded')
    await addNodes(store, tenant, aNode(uniqueName('full'), { capacity: { cpuMillis: 0, memoryBytes: 0 } }))
    const late = await put(store, tenant, deploymentOf('late', { dependsOn: { web: 'healthy' } }))
    await expect.poll(() => waitsFor(late.uid)).toContain('web must be healthy but has 0 of 1 replicas ready')
    expect(runningOf(store, tenant, late.uid)).toEqual([])
    await change(added[0], { status: 'ready' })
    await expect.poll(() => runningOf(store, tenant, late.uid).length).toBe(1)
  })
})

describe('a node', () => {
  const nodeOf = (added: readonly StoredNode[], id: string | undefined) =>
    added.find((each) => each.id === id)

  test('that failed has its replicas replaced at once, and its containers are removed when it returns', async () => {
    const { uid, added } = await running()
    const lost = runningOf(store, tenant, uid).find(({ replica }) => replica === 2)
    const node = nodeOf(added, lost?.nodeId)
    await change(node, { status: 'failed' })
    await expect
      .poll(() => placementOf(store, tenant, uid)?.assignments.find(({ id }) => id === lost?.id)?.desired)
      .toBe('removed')
    await expect.poll(() => phaseOf(uid)).toBe('Running')
    const now = runningOf(store, tenant, uid)
    expect(now.map(({ replica }) => replica).sort()).toEqual([1, 2, 3])
    expect(now.some(({ nodeId }) => nodeId === node?.id)).toBe(false)
    const emitted = (await eventsOf(store, tenant)).filter(({ type }) => type === 'deployment.displaced')
    expect(emitted).toHaveLength(1)
    expect(emitted[0]).toMatchObject({ reason: 'node_lost', data: { nodeName: node?.name } })
    await change(node, { status: 'ready' })
    await expect.poll(() => placementOf(store, tenant, uid)?.assignments).toEqual(now)
  })

  test('that failed without a replacement keeps its replica desired, and serves again on return', async () => {
    const { uid, added } = await running({ replicas: 1 }, { nodes: 1 })
    const before = runningOf(store, tenant, uid)
    await change(added[0], { status: 'failed' })
    await expect.poll(() => phaseOf(uid)).toBe('Degraded')
    expect(runningOf(store, tenant, uid)).toEqual(before)
    await change(added[0], { status: 'ready' })
    await expect.poll(() => phaseOf(uid)).toBe('Running')
    await settled()
    expect(placementOf(store, tenant, uid)?.assignments).toEqual(before)
  })

  test('that is drained moves its replicas successor first, emits an event, and stays cordoned', async () => {
    const { uid, own, added } = await running({ replicas: 4 }, { nodes: 2 })
    const [node] = added
    await change(node, { draining: true, schedulable: false })
    await expect
      .poll(() => store.get(inTenant(tenant, nodes, node?.id ?? ''))?.record)
      .toEqual({ ...node, schedulable: false })
    expect(own.fewestServed()).toBe(4)
    expect(runningOf(store, tenant, uid).some(({ nodeId }) => nodeId === node?.id)).toBe(false)
    const emitted = (await eventsOf(store, tenant)).filter(({ type }) => type === 'node.drained')
    expect(emitted).toHaveLength(1)
    expect(rolloutOf(uid)).toBeUndefined()
  })
})

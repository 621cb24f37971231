// The plan of a dry run equals the later actions of the controllers, with agents that make every container ready: the
// node of each replica, which replicas are recreated in which order, and the lowest number of ready replicas in between.

import type { DeploymentSpec, PlanStep, TenantId } from '@holdfast/contract'
import { createRunDry } from '@holdfast/server/loops/controllers/planning/run-dry'
import { done } from '@holdfast/server/operations/caller'
import { deployments, nodes, type StoredDeployment, type StoredNode } from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { inTenant } from '@holdfast/server/store/transaction'
import { realIds as ids } from '@holdfast/server/system-clock'
import { uniqueName } from '@holdfast/testkit'
import { type ObedientAgents, startObedientAgents } from '@holdfast/testkit/controllers/obedient-agents'
import {
  addNodes,
  addTenant,
  aNode,
  type Controllers,
  deploymentOf,
  placementOf,
  put,
  runningOf,
  startControllers,
  write,
} from '@holdfast/testkit/controllers/placing-world'
import { createSetClock } from '@holdfast/testkit/controllers/set-clock'
import { openTestStore, type TestStore } from '@holdfast/testkit/store/open-test-store'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const UPDATE: DeploymentSpec['update'] = {
  order: 'start-first',
  parallelism: 1,
  failureAction: 'rollback',
  progressDeadline: '60s',
}
const CONTAINERS = 7
const residency = { enforcement: true, regions: { dach: ['AT', 'CH', 'DE'] } }
const quotas = { limit: () => CONTAINERS }

let opened: TestStore
let store: Store
let tenant: TenantId
let controllers: Controllers
let agents: ObedientAgents | undefined
let machines: StoredNode[]
const clock = createSetClock()

beforeEach(async () => {
  opened = await openTestStore({ root: `/${uniqueName('plan')}` })
  store = opened.store
  tenant = await addTenant(store)
  const countries = ['DE', 'AT', 'FR']
  machines = await addNodes(
    store,
    tenant,
    ...countries.map((country, index) =>
      aNode(uniqueName(`n${index + 1}`), {
        labels: { 'holdfast.io/country': country, zone: index === 0 ? 'a' : 'b' },
        attested: { country },
      }),
    ),
  )
  await store.fresh()
  controllers = startControllers(store, { clock, residency, containers: CONTAINERS })
})

afterEach(async () => {
  await agents?.stop()
  agents = undefined
  await controllers.stop()
  opened.close()
  expect(controllers.errors).toEqual([])
})

async function planOf(next: StoredDeployment) {
  const deps = { residency, clock, ids, archiveRevisions: 10, quotasOn: () => quotas }
  const { name } = next.spec
  const outcome = await createRunDry(deps)(tenant, store, (overlay) =>
    overlay.transact((transaction) => {
      transaction.put(inTenant(tenant, deployments, name), next)
      return { kind: 'commit', result: done(undefined) }
    }),
  )
  if (!outcome.ok) throw new Error('the dry run was rejected')
  const { steps, effects, rollouts } = outcome.value.change
  const rollout = rollouts.get(name)
  if (rollout === undefined) throw new Error(`nothing is planned for ${name}`)
  return { steps, effects, rollout, unplaced: effects.unplaced.length }
}
const nameOf = (nodeId: string) => store.get(inTenant(tenant, nodes, nodeId))?.record.name ?? nodeId
const placesOf = ({ uid }: StoredDeployment) =>
  new Map(runningOf(store, tenant, uid).map(({ replica, nodeId }) => [replica, nameOf(nodeId)]))

async function running(spec: Partial<DeploymentSpec> = {}): Promise<StoredDeployment> {
  const created = deploymentOf('web', { replicas: 3, update: UPDATE, ...spec })
  const { steps } = await planOf(created)
  await carryOut(created)
  expect(placesOf(created)).toEqual(plannedPlaces(new Map(), steps))
  return created
}

/** Stores a deployment, and waits until the controllers and the agents are idle. */
async function carryOut(next: StoredDeployment): Promise<void> {
  await put(store, tenant, next)
  agents ??= startObedientAgents(store, tenant, next.uid, () => ({}))
  await expect
    .poll(() => {
      const placement = placementOf(store, tenant, next.uid)
      const left = placement?.assignments.some(({ desired }) => desired !== 'running')
      return [placement?.revision, left, controllers.placing.pending, isDone(placement?.reportedPhase)]
    })
    .toEqual([next.revision, false, 0, true])
}
const isDone = (phase: string | undefined) =>
  ['Running', 'Stopped', 'Waiting', 'Pending', 'Degraded'].includes(phase ?? '')

/** The node of each replica after the steps of a plan. */
function plannedPlaces(before: ReadonlyMap<number, string>, steps: readonly PlanStep[]): Map<number, string> {
  const places = new Map(before)
  for (const { replicas } of steps)
    for (const { replica, nodeName } of replicas)
      if (nodeName === undefined) places.delete(replica)
      else places.set(replica, nodeName)
  return places
}

const CHANGES: readonly (readonly [string, Partial<DeploymentSpec>, readonly string[]])[] = [
  ['nothing', {}, []],
  ['another environment', { environment: { A: 'b' } }, ['replace', 'replace', 'replace']],
  [
    'two at a time',
    { environment: { A: 'b' }, update: { ...UPDATE, parallelism: 2 } },
    ['replace', 'replace'],
  ],
  [
    'stop-first',
    { environment: { A: 'b' }, update: { ...UPDATE, order: 'stop-first' } },
    ['replace', 'replace', 'replace'],
  ],
  ['more replicas', { replicas: 5 }, ['start']],
  ['fewer replicas', { replicas: 1 }, ['stop']],
  ['no replicas', { replicas: 0 }, ['stop']],
  ['another country', { placement: { residency: { country: 'DE' } } }, ['move', 'move']],
  ['a region', { placement: { residency: { region: 'dach' } } }, ['move']],
  [
    'a constraint',
    { placement: { constraints: [{ label: 'zone', operator: 'in', values: ['a'] }] } },
    ['move', 'move'],
  ],
  ['a country that no node is in', { placement: { residency: { country: 'JP' } } }, ['stop', 'wait']],
  [
    'a constraint that no node meets',
    { placement: { constraints: [{ label: 'gpu', operator: 'exists' }] } },
    ['wait'],
  ],
  ['replicas that fit nowhere', { replicas: 4, placement: { antiAffinity: ['web'] } }, ['wait']],
  ['replicas beyond the quota', { replicas: 9 }, ['start', 'wait']],
]

describe('the controllers do what was planned', () => {
  test.each(CHANGES)('%s', async (_what, change, kinds) => {
    const first = await running()
    const before = placesOf(first)
    const next = { ...first, revision: 2, spec: { ...first.spec, ...change } }
    const { steps, rollout, unplaced } = await planOf(next)
    expect(steps.map(({ kind }) => kind)).toEqual(kinds)
    expect(unplaced > 0).toBe(kinds.includes('wait'))
    agents?.fewestServed()
    await carryOut(next)
    // The test polls, because the controllers may be idle for a moment between two moves of replicas.
    await expect.poll(() => placesOf(next)).toEqual(plannedPlaces(before, steps))
    if (next.spec.replicas >= first.spec.replicas) expect(agents?.fewestServed()).toBe(rollout.lowestReady)
  })
})

test('a full quota forces stop-first, and the plan reports it', async () => {
  const first = await running({ replicas: CONTAINERS })
  const next = { ...first, revision: 2, spec: { ...first.spec, environment: { A: 'b' } } }
  const { rollout, steps } = await planOf(next)
  expect(rollout).toMatchObject({ order: 'stop-first', lowestReady: CONTAINERS - 1 })
  expect(rollout.summary).toBe(
    '7 replicas are recreated in 7 steps, stop-first; at least 6 ready on the way.',
  )
  agents?.fewestServed()
  await carryOut(next)
  expect(agents?.fewestServed()).toBe(CONTAINERS - 1)
  expect(steps[0]?.text).toMatch(/^Replica 1 on n\d\S* stops, then its successor starts on n\d\S* \(.+\)\.$/)
})

test('each step of a plan has the reason for its node', async () => {
  const plan = await planOf(deploymentOf('web', { replicas: 3, placement: { spread: 'zone' } }))
  const [first, second, third] = plan.steps[0]?.replicas ?? []
  expect(first?.why).toBe('of 3 nodes that fit and rank the same, the first by id')
  expect(second?.why).toMatch(/^of 3 nodes that fit: zone [ab] has the fewest replicas of web \(0\)/)
  expect(third?.why).toMatch(/^of 3 nodes that fit: .*the fewest replicas of web \(0\)/)
  expect(plan.steps[0]?.text).toMatch(/^Replica 1 starts on n\d\S* \(of 3 nodes that fit and rank the same/)
})

test('a condition that a plan waits for is a step', async () => {
  const waiting = deploymentOf('web', { replicas: 1, dependsOn: { db: 'healthy' } })
  expect((await planOf(waiting)).steps).toMatchObject([
    { kind: 'wait', replicas: [], text: /db must be healthy/ },
  ])
  const unresolved = { ...deploymentOf('web'), digest: null }
  expect((await planOf(unresolved)).steps).toMatchObject([
    { kind: 'wait', text: 'No registry has resolved the image yet: replicas wait for that.' },
  ])
})

test('a plan moves replicas off a draining node and a lost one', async () => {
  const first = await running()
  const [leaving, lost] = machines
  if (leaving === undefined || lost === undefined) throw new Error('no machines')
  await controllers.stop()
  await write(store, (transaction) => {
    transaction.put(inTenant(tenant, nodes, leaving.id), { ...leaving, schedulable: false, draining: true })
    transaction.put(inTenant(tenant, nodes, lost.id), { ...lost, status: 'failed' })
  })
  await store.fresh()
  const { steps } = await planOf({ ...first, revision: 2 })
  const reasons = steps.flatMap(({ replicas }) => replicas.map(({ reason, from }) => [reason, from]))
  expect(reasons.sort()).toEqual([
    ['node_leaving', leaving.name],
    ['node_lost', lost.name],
  ])
  const places = plannedPlaces(placesOf(first), steps)
  expect(new Set(places.values())).toEqual(new Set([machines[2]?.name]))
})

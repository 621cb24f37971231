// Tests rollouts in random histories of agents, nodes, revisions, time, and lost or repeated decisions. In each history a
// replica number that is served stays served, repeated planning changes nothing, and in the end the desired state is
// reached.

import type { Assignment } from '@holdfast/contract'
import { inRun } from '@holdfast/testkit/long-run'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { NodeDisposition } from './desired-replicas.ts'
import { isUnchanged } from './plan-replicas.ts'
import {
  aWorld,
  commit,
  factsOf,
  isBroken,
  NODES,
  planOf,
  put,
  reportNext,
  running,
  type Seen,
  see,
  servedNumbers,
  settle,
  type World,
} from './plan-rollout.fixture.ts'
import type { RolloutPlan } from './plan-rollout.ts'

type Step =
  | { readonly kind: 'decide'; readonly fitting: number; readonly outcome: 'stored' | 'lost' }
  | { readonly kind: 'reportNext'; readonly at: number }
  | { readonly kind: 'trouble'; readonly at: number; readonly seen: Partial<Seen> }
  | { readonly kind: 'node'; readonly at: number; readonly disposition: NodeDisposition }
  | { readonly kind: 'put'; readonly hash: string; readonly replicas: number }
  | { readonly kind: 'rules'; readonly parallelism: number; readonly failureAction: 'pause' | 'rollback' }
  | { readonly kind: 'gate'; readonly gated: boolean }
  | { readonly kind: 'unresolved' }
  | { readonly kind: 'quota'; readonly quota: number }
  | { readonly kind: 'wait'; readonly ms: number }

const at = fc.nat(20)
const troubles: Partial<Seen>[] = [
  { reason: 'unhealthy' },
  { state: 'running', reason: 'exited', restarts: 1 },
  { state: 'running', reason: 'exited', restarts: 3 },
  { state: 'pulling', reason: 'image_pull_failed' },
  { state: 'starting', reason: 'secret_unresolved' },
  { state: 'failed', reason: 'refused_by_agent' },
  { reason: '' },
]
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('decide' as const), ...decisions() }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('reportNext' as const), at }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('trouble' as const), at, seen: fc.constantFrom(...troubles) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('node' as const),
      at: fc.nat(2),
      disposition: fc.constantFrom<NodeDisposition>(
        ...(['staying', 'staying', 'leaving', 'stranded', 'barred', 'failed', 'absent'] as const),
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('put' as const),
      replicas: fc.integer({ min: 0, max: 4 }),
      hash: fc.constantFrom('one', 'two', 'three', 'broken'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('rules' as const),
      parallelism: fc.integer({ min: 1, max: 3 }),
      failureAction: fc.constantFrom('pause', 'rollback'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('gate' as const), gated: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('unresolved' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('quota' as const), quota: fc.constantFrom(1, 3, 100, 100) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      ms: fc.constantFrom(1, 1_000, 15_000, 60_000, -5_000),
    }),
  },
)

function decisions() {
  return {
    fitting: fc.constantFrom(0, 1, 2, 99, 99, 99),
    outcome: fc.constantFrom('stored' as const, 'stored' as const, 'lost' as const),
  }
}

const scene = fc.record({
  order: fc.constantFrom('start-first', 'stop-first'),
  stateful: fc.boolean(),
  quota: fc.constantFrom(3, 100, 100),
  steps: fc.array(step, { maxLength: 60 }),
})

function play(world: World, each: Step, checkDecision: (world: World, fitting: number) => void): void {
  const { desired, placed } = world
  const one = placed.assignments[('at' in each ? each.at : 0) % Math.max(1, placed.assignments.length)]
  if (each.kind === 'decide' && each.outcome === 'stored') checkDecision(world, each.fitting)
  if (each.kind === 'decide' && each.outcome === 'lost') planOf(world)
  if (each.kind === 'reportNext' && one !== undefined) reportNext(world, one)
  if (each.kind === 'trouble' && one?.desired === 'running') see(world, one, each.seen)
  if (each.kind === 'node')
    world.dispositions.set(NODES[each.at] ?? ('' as (typeof NODES)[0]), each.disposition)
  if (each.kind === 'put') put(world, each.hash, { replicas: each.replicas })
  if (each.kind === 'rules')
    world.desired = { ...desired, update: { ...desired.update, ...each, order: desired.update.order } }
  if (each.kind === 'gate') world.desired = { ...desired, gated: each.gated }
  if (each.kind === 'unresolved') world.desired = { ...desired, target: undefined }
  if (each.kind === 'quota') world.quota = each.quota
  if (each.kind === 'wait') world.now += each.ms
}

const DESIRED = ['running', 'stopped', 'removed']

/** Makes one decision about a rollout and checks every property that must hold for a decision. */
function checkDecision(world: World, fitting: number): void {
  const { desired, placed } = world
  const before = placed.assignments
  const servedBefore = servedNumbers(world, before)
  const plan = planOf(world)
  const added = commit(world, plan, fitting)
  const count = desired.replicas
  const stopFirst = desired.stateful || desired.update.order === 'stop-first'
  const served = servedNumbers(world, world.placed.assignments)
  // Only a replica that must not run on its node may stop serving before its successor serves.
  const mayKeepServing = servedNumbers(
    world,
    before.filter(({ nodeId }) => factsOf(world).dispositionOf(nodeId) !== 'barred'),
  )
  const unserved = [...servedBefore].filter(
    (replica) => replica <= count && mayKeepServing.has(replica) && !served.has(replica),
  )
  if (stopFirst) expect(unserved.length).toBeLessThanOrEqual(desired.update.parallelism)
  else expect(unserved).toEqual(plan.forcedByQuota.filter((replica) => servedBefore.has(replica)))
  // A quota that was lowered below the current number of replicas stops nothing.
  if (plan.kept.length > world.quota) expect(unserved).toEqual([])
  for (const each of plan.kept) expectForward(before, each)
  expect(plan.kept.length + plan.dropped.length).toBe(before.length)
  if (stopFirst) for (const each of added) expectAlone(world, plan.kept, each)
  if (desired.gated) expect(added).toEqual([])
  expectPlaced(world, plan)
  expect(plan.missing.every(({ replica }) => replica >= 1 && replica <= count)).toBe(true)
  const again = planOf(world)
  expect(isUnchanged(again, world.placed.assignments)).toBe(true)
  expect(again.rollout).toBe(world.placed.rollout)
  expect(again.lastGood).toBe(world.placed.lastGood)
  // A replica that was placed is not requested again. A replica that found no node is requested again, unless it waits
  // until its old replica is gone. A replica whose old replica was stopped because of the quota is also requested again
  // if no node accepts it.
  const unplaced = plan.missing.slice(added.length)
  const requested = again.missing.filter(({ replica }) => !plan.forcedByQuota.includes(replica))
  expect(unplaced).toEqual(expect.arrayContaining([...requested]))
}

/**
 * Checks that a replica that must not run on its node keeps running only while the plan keeps a successor on a node that
 * is neither lost nor forbidden.
 */
function expectPlaced(world: World, { kept }: Pick<RolloutPlan, 'kept'>): void {
  const { dispositionOf } = factsOf(world)
  const left = kept.filter(({ desired }) => desired === 'running')
  for (const { nodeId, replica } of left) {
    if (dispositionOf(nodeId) !== 'barred') continue
    const successors = left.filter(
      (each) => each.replica === replica && !['barred', 'failed'].includes(dispositionOf(each.nodeId)),
    )
    expect(successors).not.toEqual([])
  }
}

function expectForward(before: readonly Assignment[], now: Assignment): void {
  const was = before.find(({ id }) => id === now.id)
  expect({ ...was, desired: '' }).toEqual({ ...now, desired: '' })
  expect(DESIRED.indexOf(now.desired)).toBeGreaterThanOrEqual(DESIRED.indexOf(was?.desired ?? ''))
}

/**
 * Checks that no other replica of the same number may run when a replica is added: with stop-first on any reachable node,
 * with a read-write mount on any node at all.
 */
function expectAlone(world: World, kept: readonly Assignment[], added: Assignment): void {
  const { dispositionOf } = factsOf(world)
  const mayRun = ({ nodeId }: Assignment) => world.desired.stateful || dispositionOf(nodeId) !== 'failed'
  const others = kept.filter((each) => each.replica === added.replica && mayRun(each))
  expect(others).toEqual([])
}

/**
 * Ends all disturbances of a history: all nodes are back, no dependency is unmet, the image is resolved, and all agents
 * are healthy.
 */
function calm(world: World): void {
  world.dispositions.clear()
  world.quota = 100
  for (const each of world.placed.assignments)
    if (world.observed.get(each.id)?.gone !== true) world.observed.delete(each.id)
  const hash = world.desired.target?.templateHash ?? 'two'
  world.desired = { ...world.desired, gated: false }
  put(world, hash)
  settle(world)
}

function expectSettled(world: World): void {
  const { desired, placed } = world
  const { rollout, lastGood } = placed
  const target = desired.target?.templateHash ?? ''
  const left = running(world)
  if (rollout?.state === 'paused' || desired.replicas === 0) return
  expect(left.map(({ replica }) => replica).sort()).toEqual(
    Array.from({ length: desired.replicas }, (_, index) => index + 1),
  )
  expect(placed.assignments).toEqual(left)
  const back = rollout?.state === 'rolling_back'
  if (back) expect(isBroken(target)).toBe(true)
  const wanted = back ? lastGood?.templateHash : target
  expect([...new Set(left.map(({ templateHash }) => templateHash))]).toEqual([wanted])
  if (!isBroken(target))
    expect({ rollout, lastGood }).toEqual({ rollout: undefined, lastGood: desired.target })
}

const RUNS = inRun(2_000, 10_000)
const PATIENCE_MS = 120_000

test(
  'a number that is served stays served, and planning again after a plan is stored changes nothing',
  () => {
    fc.assert(
      fc.property(scene, ({ order, stateful, quota, steps }) => {
        const world = aWorld({ stateful })
        world.desired = {
          ...world.desired,
          update: { ...world.desired.update, order: order as 'start-first' },
        }
        world.quota = quota
        for (const each of steps) play(world, each, checkDecision)
        calm(world)
        expectSettled(world)
      }),
      { numRuns: RUNS },
    )
  },
  PATIENCE_MS,
)

// Whatever happens in whatever order (agents, nodes, revisions, time, decisions that are lost or made twice): a
// number that is served stays served, the same question changes nothing, and in the end all is as wished.

import type { Assignment } from '@holdfast/contract'
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
  obey,
  planOf,
  put,
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
  | { readonly kind: 'obey'; readonly at: number }
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
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('obey' as const), at }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('trouble' as const), at, seen: fc.constantFrom(...troubles) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      ...{ kind: fc.constant('node' as const), at: fc.nat(2) },
      disposition: fc.constantFrom<NodeDisposition>(
        ...(['staying', 'staying', 'leaving', 'stranded', 'barred', 'failed', 'absent'] as const),
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      ...{ kind: fc.constant('put' as const), replicas: fc.integer({ min: 0, max: 4 }) },
      hash: fc.constantFrom('one', 'two', 'three', 'broken'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      ...{ kind: fc.constant('rules' as const), parallelism: fc.integer({ min: 1, max: 3 }) },
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

function play(world: World, each: Step, judge: (world: World, fitting: number) => void): void {
  const { wished, placed } = world
  const one = placed.assignments[('at' in each ? each.at : 0) % Math.max(1, placed.assignments.length)]
  if (each.kind === 'decide' && each.outcome === 'stored') judge(world, each.fitting)
  if (each.kind === 'decide' && each.outcome === 'lost') planOf(world)
  if (each.kind === 'obey' && one !== undefined) obey(world, one)
  if (each.kind === 'trouble' && one?.desired === 'running') see(world, one, each.seen)
  if (each.kind === 'node')
    world.dispositions.set(NODES[each.at] ?? ('' as (typeof NODES)[0]), each.disposition)
  if (each.kind === 'put') put(world, each.hash, { replicas: each.replicas })
  if (each.kind === 'rules')
    world.wished = { ...wished, update: { ...wished.update, ...each, order: wished.update.order } }
  if (each.kind === 'gate') world.wished = { ...wished, gated: each.gated }
  if (each.kind === 'unresolved') world.wished = { ...wished, target: undefined }
  if (each.kind === 'quota') world.quota = each.quota
  if (each.kind === 'wait') world.now += each.ms
}

const DESIRED = ['running', 'stopped', 'removed']

/** One decision, and all that must hold of it. */
function judge(world: World, fitting: number): void {
  const { wished, placed } = world
  const before = placed.assignments
  const servedBefore = servedNumbers(world, before)
  const plan = planOf(world)
  const added = commit(world, plan, fitting)
  const count = wished.replicas
  const stopFirst = wished.stateful || wished.update.order === 'stop-first'
  const served = servedNumbers(world, world.placed.assignments)
  // What may not be where it is goes without a successor; nothing else does.
  const bearable = servedNumbers(
    world,
    before.filter(({ nodeId }) => factsOf(world).dispositionOf(nodeId) !== 'barred'),
  )
  const unserved = [...servedBefore].filter(
    (replica) => replica <= count && bearable.has(replica) && !served.has(replica),
  )
  if (stopFirst) expect(unserved.length).toBeLessThanOrEqual(wished.update.parallelism)
  else expect(unserved).toEqual(plan.forcedByQuota.filter((replica) => servedBefore.has(replica)))
  // A quota that was lowered below what is there shrinks nothing.
  if (plan.kept.length > world.quota) expect(unserved).toEqual([])
  for (const each of plan.kept) expectForward(before, each)
  expect(plan.kept.length + plan.dropped.length).toBe(before.length)
  if (stopFirst) for (const each of added) expectAlone(world, plan.kept, each)
  if (wished.gated) expect(added).toEqual([])
  expectPlaced(world, plan)
  expect(plan.missing.every(({ replica }) => replica >= 1 && replica <= count)).toBe(true)
  const again = planOf(world)
  expect(isUnchanged(again, world.placed.assignments)).toBe(true)
  expect(again.rollout).toBe(world.placed.rollout)
  expect(again.lastGood).toBe(world.placed.lastGood)
  // What was placed is not asked for again; what found no node is, unless it waits for its own old one to be gone. One whose
  // old one made room asks too, where what the room was for found no node.
  const unplaced = plan.missing.slice(added.length)
  const asked = again.missing.filter(({ replica }) => !plan.forcedByQuota.includes(replica))
  expect(unplaced).toEqual(expect.arrayContaining([...asked]))
}

/** What is barred stays only where its successor is on its way; what is stranded is stopped for no successor. */
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

/** Nothing of its number may be running anywhere that can be asked; where it writes, nowhere at all. */
function expectAlone(world: World, kept: readonly Assignment[], added: Assignment): void {
  const { dispositionOf } = factsOf(world)
  const mayRun = ({ nodeId }: Assignment) => world.wished.stateful || dispositionOf(nodeId) !== 'failed'
  const others = kept.filter((each) => each.replica === added.replica && mayRun(each))
  expect(others).toEqual([])
}

/** All nodes are back, the gate is open, the image is known, and all agents do as they are told. */
function calm(world: World): void {
  world.dispositions.clear()
  world.quota = 100
  for (const each of world.placed.assignments)
    if (world.observed.get(each.id)?.gone !== true) world.observed.delete(each.id)
  const hash = world.wished.target?.templateHash ?? 'two'
  world.wished = { ...world.wished, gated: false }
  put(world, hash)
  settle(world)
}

function expectSettled(world: World): void {
  const { wished, placed } = world
  const { rollout, lastGood } = placed
  const target = wished.target?.templateHash ?? ''
  const left = running(world)
  if (rollout?.state === 'paused' || wished.replicas === 0) return
  expect(left.map(({ replica }) => replica).sort()).toEqual(
    Array.from({ length: wished.replicas }, (_, index) => index + 1),
  )
  expect(placed.assignments).toEqual(left)
  const back = rollout?.state === 'rolling_back'
  if (back) expect(isBroken(target)).toBe(true)
  const wanted = back ? lastGood?.templateHash : target
  expect([...new Set(left.map(({ templateHash }) => templateHash))]).toEqual([wanted])
  if (!isBroken(target))
    expect({ rollout, lastGood }).toEqual({ rollout: undefined, lastGood: wished.target })
}

const RUNS = 10_000
const PATIENCE_MS = 120_000

test(
  'a number that is served stays served, and a plan that is stored is an empty plan',
  () => {
    fc.assert(
      fc.property(scene, ({ order, stateful, quota, steps }) => {
        const world = aWorld({ stateful })
        world.wished = { ...world.wished, update: { ...world.wished.update, order: order as 'start-first' } }
        world.quota = quota
        for (const each of steps) play(world, each, judge)
        calm(world)
        expectSettled(world)
      }),
      { numRuns: RUNS },
    )
  },
  PATIENCE_MS,
)

import type { FilterName, NodeId } from '@holdfast/contract'
import { inRun } from '@holdfast/testkit/long-run'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { displacedDisposition } from './displaced-disposition.ts'
import {
  aWorld,
  commit,
  NODES,
  planOf,
  put,
  reportNext,
  running,
  servedNumbers,
  settle,
  type World,
} from './plan-rollout.fixture.ts'

const OPEN = { open: true, gated: false, stateful: false }
const HARD: FilterName[] = ['residency_country', 'residency_region', 'blocked_country']

describe('a node that no longer qualifies', () => {
  test.each(HARD)(
    'by %s keeps replicas until a successor serves if one can start, and stops them otherwise',
    (filter) => {
      expect(displacedDisposition({ filter }, OPEN)).toBe('leaving')
      expect(displacedDisposition({ filter }, { ...OPEN, open: false })).toBe('barred')
      expect(displacedDisposition({ filter }, { ...OPEN, gated: true })).toBe('barred')
      expect(displacedDisposition({ filter }, { ...OPEN, stateful: true })).toBe('barred')
    },
  )

  test('by a label constraint never stops a replica without a successor', () => {
    const filter = 'label_constraint'
    expect(displacedDisposition({ filter }, OPEN)).toBe('leaving')
    expect(displacedDisposition({ filter }, { ...OPEN, open: false })).toBe('stranded')
    expect(displacedDisposition({ filter }, { open: false, gated: true, stateful: true })).toBe('stranded')
  })
})

/** Sets what happens to replicas on nodes that do not fit, as the controllers do. Returns whether any node fits. */
function classifyNodes(world: World, unfit: ReadonlySet<NodeId>, filter: FilterName): boolean {
  const open = unfit.size < NODES.length
  const disposition = displacedDisposition({ filter }, { open, gated: false, stateful: false })
  world.dispositions.clear()
  for (const id of unfit) world.dispositions.set(id, disposition)
  return open
}

type Step =
  | { readonly kind: 'labels'; readonly at: number; readonly fits: boolean }
  | { readonly kind: 'decide'; readonly lost: boolean }
  | { readonly kind: 'reportNext'; readonly at: number }
  | { readonly kind: 'put'; readonly hash: string }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('labels' as const), at: fc.nat(2), fits: fc.boolean() }),
  },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('decide' as const), lost: fc.boolean() }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('reportNext' as const), at: fc.nat(20) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('put' as const), hash: fc.constantFrom('one', 'two') }),
  },
)

interface Scene {
  readonly world: World
  readonly unfit: Set<NodeId>
  readonly filter: FilterName
}

function play({ world, unfit, filter }: Scene, each: Step): void {
  const { assignments } = world.placed
  const one = assignments[('at' in each ? each.at : 0) % Math.max(1, assignments.length)]
  if (each.kind === 'reportNext' && one !== undefined) reportNext(world, one)
  if (each.kind === 'put') put(world, each.hash)
  if (each.kind === 'labels') {
    const node = NODES[each.at]
    if (node !== undefined && each.fits) unfit.delete(node)
    else if (node !== undefined) unfit.add(node)
  }
  if (each.kind !== 'decide') return
  const open = classifyNodes(world, unfit, filter)
  const before = servedNumbers(world, assignments)
  if (each.lost) return void planOf(world)
  const added = commit(world, planOf(world))
  const served = servedNumbers(world, world.placed.assignments)
  const isHard = filter !== 'label_constraint'
  if (open || !isHard) expect([...before].filter((replica) => !served.has(replica))).toEqual([])
  else expect(running(world)).toEqual([])
  for (const { nodeId } of added) expect(unfit.has(nodeId)).toBe(false)
}

test('while another node fits, no serving replica is removed before its successor serves; in the end none is left', () => {
  const scene = fc.record({
    filter: fc.constantFrom<FilterName>('residency_country', 'label_constraint'),
    parallelism: fc.integer({ min: 1, max: 3 }),
    steps: fc.array(step, { maxLength: 60 }),
  })
  fc.assert(
    fc.property(scene, ({ filter, parallelism, steps }) => {
      const world = aWorld()
      world.desired = { ...world.desired, update: { ...world.desired.update, parallelism } }
      const unfit = new Set<NodeId>()
      settle(world)
      for (const each of steps) play({ world, unfit, filter }, each)
      // If no node fits, the replicas wait and the rollout does not settle, so nothing is checked.
      if (!classifyNodes(world, unfit, filter)) return
      settle(world)
      expect(running(world).filter(({ nodeId }) => unfit.has(nodeId))).toEqual([])
      expect(servedNumbers(world, running(world)).size).toBe(3)
    }),
    { numRuns: inRun(1_000, 5_000) },
  )
})

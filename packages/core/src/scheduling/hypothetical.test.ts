// Tests that a hypothetical question sees its assumed changes and leaves the view unchanged, even after an error.

import type { Capacity } from '@holdfast/contract'
import { inRun } from '@holdfast/testkit/long-run'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { arbitraryTenant, arbitraryWorkload } from './arbitrary.fixture.ts'
import type { TenantFacts, Workload } from './facts.ts'
import { type HypotheticalChange, NO_DEPLOYMENT } from './hypothetical.ts'
import { aNode, aWorkload, nodeIdOf, someFacts } from './scheduling.fixture.ts'
import { createSchedulingView, type SchedulingView } from './scheduling-view.ts'

const half: Capacity = { cpuMillis: 2000, memoryBytes: 4 * 1024 ** 3 }
const onItsOwn = aWorkload({ placement: { antiAffinity: ['web'] } })
const running = (count: number) => ({ replicas: new Map([['web', count]]) })

const changeOf = (
  kind: 'release' | 'enter',
  node: number,
  resources = onItsOwn.resources,
): HypotheticalChange => ({ kind, nodeId: nodeIdOf(node), name: 'web', resources })

const renamed = (node: number): HypotheticalChange => ({
  kind: 'rename',
  nodeId: nodeIdOf(node),
  name: 'web',
  resources: onItsOwn.resources,
  to: NO_DEPLOYMENT,
})

/** The view's answers to several workloads, which depend on everything in it: nodes, capacity, replicas, quota, ranks. */
function everythingOf(view: SchedulingView): unknown {
  const questions = [
    aWorkload(),
    onItsOwn,
    aWorkload({ resources: half }),
    aWorkload({ name: 'db', placement: { affinity: ['web'], spread: 'zone' } }),
    aWorkload({ name: NO_DEPLOYMENT, placement: { antiAffinity: [NO_DEPLOYMENT] } }),
  ]
  return questions.map((workload) => {
    const { placed, unplaced, candidates } = view.place(workload, 7)
    return [placed, unplaced, candidates, view.candidates(workload)]
  })
}

describe('a hypothetical question', () => {
  test('places as if replicas were released', () => {
    const view = createSchedulingView(someFacts([aNode(1, running(1)), aNode(2, running(1))], 2, 2))
    expect(view.place(onItsOwn, 1).unplaced).toBe(1)
    const placing = view.hypothetically([changeOf('release', 2)], () => view.place(onItsOwn, 1))
    expect(placing.placed).toEqual([nodeIdOf(2)])
    expect(view.place(onItsOwn, 1).unplaced).toBe(1)
  })

  test('places as if replicas were entered', () => {
    const view = createSchedulingView(someFacts([aNode(1), aNode(2)]))
    const placing = view.hypothetically([changeOf('enter', 1)], () => view.place(onItsOwn, 2))
    expect([placing.placed, placing.unplaced]).toEqual([[nodeIdOf(2)], 1])
    expect(view.place(onItsOwn, 2).unplaced).toBe(0)
  })

  test('keeps the capacity and the quota of renamed replicas, and frees their name', () => {
    const facts = someFacts([aNode(1, { ...running(1), requested: half })], 1, 2)
    const view = createSchedulingView(facts)
    expect(view.place(onItsOwn, 1).unplaced).toBe(1)
    view.hypothetically([renamed(1)], () => {
      expect(view.place(onItsOwn, 1).placed).toEqual([nodeIdOf(1)])
      expect(view.place({ ...onItsOwn, resources: half }, 1).placed).toEqual([nodeIdOf(1)])
      expect(view.place(aWorkload(), 2).unplaced).toBe(1)
      const more = { cpuMillis: half.cpuMillis + 1, memoryBytes: 0 }
      expect(view.place({ ...onItsOwn, resources: more }, 1).unplaced).toBe(1)
    })
  })

  test.each([
    ['release', changeOf('release', 1, half)],
    ['rename', renamed(1)],
  ])('ignores the %s of a replica that the node does not have', (_kind, change) => {
    const view = createSchedulingView(someFacts([aNode(1, { requested: half })], 1, 2))
    const before = everythingOf(view)
    expect(view.hypothetically([change], () => everythingOf(view))).toEqual(before)
  })

  test('may ask another one', () => {
    const view = createSchedulingView(someFacts([aNode(1, running(1)), aNode(2, running(1))]))
    const placing = view.hypothetically([changeOf('release', 1)], () =>
      view.hypothetically([changeOf('release', 2)], () => view.place(onItsOwn, 2)),
    )
    expect(placing.unplaced).toBe(0)
    expect(view.place(onItsOwn, 1).unplaced).toBe(1)
  })

  test('must not change the view', () => {
    const view = createSchedulingView(someFacts([aNode(1)]))
    const before = everythingOf(view)
    const changes = [
      () => view.applyAssigned(nodeIdOf(1), 'web', half),
      () => view.applyReleased(nodeIdOf(1), 'web', half),
      () => view.setNode(aNode(1, running(1))),
      () => view.removeNode(nodeIdOf(1)),
      () => view.setContainers({ used: 0, limit: 0 }),
    ]
    for (const change of changes)
      expect(() => view.hypothetically([], change)).toThrow('cannot be changed while a hypothetical question')
    expect(everythingOf(view)).toEqual(before)
    view.applyAssigned(nodeIdOf(1), 'web', half)
    expect(everythingOf(view)).not.toEqual(before)
  })
})

const FAILURE = new Error('a filter failed')

/** A workload that throws at every read of a property after the first `last` reads. */
function failingAfter(workload: Workload, last: number): Workload {
  let reads = 0
  return new Proxy(workload, {
    get(target, property, receiver) {
      reads += 1
      if (reads > last) throw FAILURE
      return Reflect.get(target, property, receiver)
    },
  })
}

/** Whether a hypothetical question failed with the planned error; any other error fails the test. */
function fails(ask: () => unknown): boolean {
  try {
    ask()
    return false
  } catch (error) {
    if (error !== FAILURE) throw error
    return true
  }
}

const RUNS = inRun(60, 200)
const PATIENCE = { timeout: 600_000 }

test('a filter that throws at any moment leaves the view exactly as it was', PATIENCE, () => {
  const property = fc.property(arbitraryTenant(1, 1, 4), arbitraryWorkload, (facts, workload) => {
    const view = createSchedulingView(facts)
    const expected = everythingOf(createSchedulingView(facts))
    const changes = changesOf(facts)
    for (let last = 0; ; last += 1) {
      const failing = failingAfter(workload, last)
      const failed = fails(() => view.hypothetically(changes, () => view.place(failing, 4)))
      expect(everythingOf(view)).toEqual(expected)
      if (!failed) break
      last += last >> 2
    }
  })
  fc.assert(property, { numRuns: RUNS })
})

/** Changes that release or rename every replica, add one on every node, and name some replicas that do not exist. */
function changesOf({ nodes }: TenantFacts): HypotheticalChange[] {
  return nodes.flatMap(({ id, replicas }, index): HypotheticalChange[] => {
    const [name = 'web'] = replicas.keys()
    const replica = { nodeId: id, name, resources: { cpuMillis: 1, memoryBytes: 1 } }
    return [
      { ...replica, kind: 'enter' },
      { ...replica, kind: 'release', name: 'unknown' },
      index % 2 === 0 ? { ...replica, kind: 'release' } : { ...replica, kind: 'rename', to: NO_DEPLOYMENT },
      { ...replica, kind: 'release', nodeId: nodeIdOf(99) },
    ]
  })
}

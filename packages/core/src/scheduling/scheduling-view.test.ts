// Which node is chosen, and how a call counts its own replicas; that no choice breaks a filter is in properties.test.ts.

import type { Capacity } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import type { NodeFacts, Workload } from './facts.ts'
import { aNode, aWorkload, nodeIdOf, someFacts } from './scheduling.fixture.ts'
import { createSchedulingView, placeReplicas } from './scheduling-view.ts'

const GIB = 1024 ** 3
const half: Capacity = { cpuMillis: 2000, memoryBytes: 4 * GIB }
const busy = (share: number): Partial<NodeFacts> => ({
  requested: { cpuMillis: 4000 * share, memoryBytes: 8 * GIB * share },
})
const zone = (value: string): Partial<NodeFacts> => ({ labels: { zone: value } })
const inZone = (value: string) => ({ label: 'zone', operator: 'in' as const, values: [value] })
const outside = (country: string) => ({ blockedCountries: [country], enforced: true, regionCountries: [] })
const web = (count: number): Partial<NodeFacts> => ({ replicas: new Map([['web', count]]) })
const numbers = (ids: readonly string[]): number[] => ids.map((id) => Number(id.slice(-4)))

function placedOn(nodes: readonly NodeFacts[], workload: Partial<Workload>, count: number): number[] {
  return numbers(placeReplicas(aWorkload(workload), count, someFacts(nodes)).placed)
}

describe('rank', () => {
  test.each<[string, readonly NodeFacts[], Partial<Workload>, number[]]>([
    ['the lowest id among equals', [aNode(3), aNode(2), aNode(7)], {}, [2]],
    ['the most free', [aNode(1, busy(0.5)), aNode(2, busy(0.25)), aNode(3, busy(0.75))], {}, [2]],
    [
      'the scarcer of CPU and memory decides',
      [aNode(1, { requested: { cpuMillis: 0, memoryBytes: 6 * GIB } }), aNode(2, busy(0.5))],
      {},
      [2],
    ],
    [
      'by share, not by amount',
      [
        aNode(1, {
          capacity: { cpuMillis: 64_000, memoryBytes: 128 * GIB },
          requested: { cpuMillis: 32_000, memoryBytes: 0 },
        }),
        aNode(2, busy(0.25)),
      ],
      {},
      [2],
    ],
    [
      'a node that reported no capacity comes last',
      [aNode(1, { capacity: { cpuMillis: 0, memoryBytes: 0 } }), aNode(2, busy(1))],
      {},
      [2],
    ],
    [
      'one node each, before free capacity',
      [aNode(1), aNode(2, busy(0.9)), aNode(3, busy(0.5))],
      {},
      [1, 3, 2],
    ],
    ['then a second round', [aNode(1), aNode(2)], {}, [1, 2, 1, 2]],
    [
      'nodes that hold a replica already come after those that do not',
      [aNode(1, web(1)), aNode(2, busy(0.9))],
      {},
      [2],
    ],
    ['the fewest replicas', [aNode(1, web(2)), aNode(2, { ...web(1), ...busy(0.9) })], {}, [2]],
    [
      'a label spreads over its values before nodes',
      [aNode(1, zone('a')), aNode(2, zone('a')), aNode(3, { ...zone('b'), ...busy(0.9) })],
      { placement: { spread: 'zone' } },
      [1, 3, 2, 3],
    ],
    [
      'nodes without the label are a group too',
      [aNode(1, zone('a')), aNode(2), aNode(3)],
      { placement: { spread: 'zone' } },
      [1, 2, 3, 1],
    ],
    [
      'replicas on nodes that take no more count for their group',
      [
        aNode(1, { ...zone('a'), ...web(1), schedulable: false }),
        aNode(2, zone('a')),
        aNode(3, { ...zone('b'), ...busy(0.9) }),
      ],
      { placement: { spread: 'zone' } },
      [3],
    ],
    [
      'spread is soft',
      [aNode(1, zone('a')), aNode(2, { ...zone('b'), schedulable: false })],
      { placement: { spread: 'zone' } },
      [1, 1, 1],
    ],
  ])('%s', (_about, nodes, workload, expected) => {
    expect(placedOn(nodes, workload, expected.length)).toEqual(expected)
    expect(placedOn([...nodes].reverse(), workload, expected.length)).toEqual(expected)
  })

  test('replicas that request nothing do not pile up on one node', () => {
    const view = createSchedulingView(someFacts([aNode(1), aNode(2), aNode(3, busy(0.01))]))
    const chosen = Array.from({ length: 9 }, (_replica, number) => {
      const workload = aWorkload({ name: `app-${number}` })
      const [nodeId = nodeIdOf(0)] = view.place(workload, 1).placed
      view.applyAssigned(nodeId, workload.name, workload.resources)
      return nodeId
    })
    expect(numbers(chosen).sort()).toEqual([1, 1, 1, 2, 2, 2, 3, 3, 3])
  })
})

describe('replicas of one call count for those after them', () => {
  test('in capacity, and a request is not split over nodes', () => {
    const nodes = [aNode(1), aNode(2, busy(0.75)), aNode(3, busy(0.75))]
    const { placed, unplaced } = placeReplicas(aWorkload({ resources: half }), 3, someFacts(nodes))
    expect([numbers(placed), unplaced]).toEqual([[1, 1], 1])
  })

  test('in anti-affinity with itself, and the matrix says so', () => {
    const workload = aWorkload({ placement: { antiAffinity: ['web'] } })
    const { placed, unplaced, candidates } = placeReplicas(workload, 3, someFacts([aNode(1), aNode(2)]))
    expect([numbers(placed), unplaced]).toEqual([[1, 2], 1])
    expect(candidates.map(({ refusals }) => refusals.map(({ reported }) => reported))).toEqual([
      [{ web: 1 }],
      [{ web: 1 }],
    ])
  })

  test('in affinity with itself', () => {
    expect(placedOn([aNode(1), aNode(2)], { placement: { affinity: ['web'] } }, 3)).toEqual([1, 1, 1])
  })

  test('in the quota', () => {
    const { placed, unplaced } = placeReplicas(aWorkload(), 5, someFacts([aNode(1), aNode(2)], 497, 500))
    expect([placed.length, unplaced]).toEqual([3, 2])
  })
})

test('cures are told only where something is unplaced', () => {
  const open = someFacts([aNode(1, { schedulable: false }), aNode(2)])
  expect(placeReplicas(aWorkload(), 1, open)).toMatchObject({ unplaced: 0, candidates: [], cures: [] })
  expect(placeReplicas(aWorkload(), 0, someFacts([]))).toMatchObject({ unplaced: 0, cures: [] })
  const { cures } = placeReplicas(aWorkload({ nodeId: nodeIdOf(1) }), 1, open)
  expect(cures).toEqual(['node_enrolled', 'node_schedulable', 'deployment'])
  expect(placeReplicas(aWorkload(), 1, someFacts([])).cures).toEqual(['node_enrolled'])
})

describe('what a view is told', () => {
  test('a decision enters nothing', () => {
    const view = createSchedulingView(someFacts([aNode(1), aNode(2)]))
    expect(view.place(aWorkload(), 3)).toEqual(view.place(aWorkload(), 3))
  })

  test('a replica that is released twice, or was never there, frees nothing', () => {
    const view = createSchedulingView(someFacts([aNode(1)], 1, 3))
    const workload = aWorkload({ resources: half })
    view.applyAssigned(nodeIdOf(1), 'web', half)
    view.applyReleased(nodeIdOf(1), 'web', half)
    view.applyReleased(nodeIdOf(1), 'web', half)
    view.applyReleased(nodeIdOf(1), 'other', half)
    expect(view.place(workload, 3)).toMatchObject({ unplaced: 1 })
  })

  test('a replica on a node that is not known counts for the quota', () => {
    const view = createSchedulingView(someFacts([aNode(1)], 0, 1))
    view.applyAssigned(nodeIdOf(9), 'web', half)
    expect(view.place(aWorkload(), 1).unplaced).toBe(1)
    view.applyReleased(nodeIdOf(9), 'web', half)
    expect(view.place(aWorkload(), 1).unplaced).toBe(0)
  })

  test('the quota', () => {
    const view = createSchedulingView(someFacts([aNode(1)], 5, 5))
    view.setContainers({ used: 5, limit: 6 })
    expect(view.place(aWorkload(), 2)).toMatchObject({ unplaced: 1 })
  })

  test('the whole matrix may be asked for, also where a replica fits', () => {
    const view = createSchedulingView(someFacts([aNode(2), aNode(1, { schedulable: false })]))
    const rows = view.candidates(aWorkload()).map(({ nodeName, refusals }) => [nodeName, refusals.length])
    expect(rows).toEqual([
      ['node-1', 1],
      ['node-2', 0],
    ])
  })

  test.each<[string, Partial<NodeFacts>, Partial<NodeFacts>, Partial<Workload>]>([
    ['status', { status: 'pending' }, { status: 'ready' }, {}],
    ['cordon', { schedulable: false }, { schedulable: true }, {}],
    ['role', { controlPlane: true }, { controlPlane: false }, {}],
    ['claim', { claim: 'shared' }, { claim: 'sole' }, {}],
    ['label', zone('b'), zone('a'), { placement: { constraints: [inZone('a')] } }],
    ['label that is new', { labels: {} }, zone('a'), { placement: { constraints: [inZone('a')] } }],
    ['a country behind a lie', { hiddenCountry: 'US' }, {}, { residency: outside('US') }],
    ['capacity', { capacity: { cpuMillis: 1, memoryBytes: 1 } }, {}, { resources: half }],
    ['what runs there', web(1), {}, { placement: { antiAffinity: ['web'] } }],
  ])('a change of %s opens a node, and the change back closes it', (_about, closed, open, workload) => {
    const view = createSchedulingView(someFacts([aNode(1, closed)]))
    const placed = () => view.place(aWorkload(workload), 1).placed.length
    const before = placed()
    view.setNode(aNode(1, open))
    const between = placed()
    view.setNode(aNode(1, closed))
    expect([before, between, placed()]).toEqual([0, 1, 0])
  })

  test('what was kept for one kind of workload does not serve another', () => {
    const view = createSchedulingView(someFacts([aNode(1, zone('a')), aNode(2, zone('b'))]))
    const inA = aWorkload({ placement: { constraints: [inZone('a')] } })
    const inB = aWorkload({ placement: { constraints: [inZone('b')] } })
    expect([inA, inB, inA].flatMap((workload) => numbers(view.place(workload, 1).placed))).toEqual([1, 2, 1])
  })

  test('the matrix is in the order of the names, not of the ids', () => {
    const nodes = [aNode(1, { name: 'z' }), aNode(2, { name: 'B' }), aNode(3, { name: 'a' })]
    const rows = createSchedulingView(someFacts(nodes)).candidates(aWorkload())
    expect(rows.map(({ nodeName }) => nodeName)).toEqual(['B', 'a', 'z'])
  })
})

// Tests which node is picked, and how replicas placed by one call affect each other. properties.test.ts checks that no
// picked node violates a filter.

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
const agent = (capabilities: string[]) => ({ agent: { version: '0.2.0', capabilities } })
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
    ['picks the lowest id among equal nodes', [aNode(3), aNode(2), aNode(7)], {}, [2]],
    [
      'picks the node with the most free capacity',
      [aNode(1, busy(0.5)), aNode(2, busy(0.25)), aNode(3, busy(0.75))],
      {},
      [2],
    ],
    [
      'compares the scarcer of CPU and memory',
      [aNode(1, { requested: { cpuMillis: 0, memoryBytes: 6 * GIB } }), aNode(2, busy(0.5))],
      {},
      [2],
    ],
    [
      'compares shares of the capacity, not amounts',
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
      'ranks a node without reported capacity last',
      [aNode(1, { capacity: { cpuMillis: 0, memoryBytes: 0 } }), aNode(2, busy(1))],
      {},
      [2],
    ],
    [
      'spreads over nodes before it compares free capacity',
      [aNode(1), aNode(2, busy(0.9)), aNode(3, busy(0.5))],
      {},
      [1, 3, 2],
    ],
    ['starts a second round when every node has a replica', [aNode(1), aNode(2)], {}, [1, 2, 1, 2]],
    ['prefers nodes without a replica of the deployment', [aNode(1, web(1)), aNode(2, busy(0.9))], {}, [2]],
    [
      'picks the node with the fewest replicas',
      [aNode(1, web(2)), aNode(2, { ...web(1), ...busy(0.9) })],
      {},
      [2],
    ],
    [
      'spreads over the values of a label before nodes',
      [aNode(1, zone('a')), aNode(2, zone('a')), aNode(3, { ...zone('b'), ...busy(0.9) })],
      { placement: { spread: 'zone' } },
      [1, 3, 2, 3],
    ],
    [
      'treats nodes without the label as one group',
      [aNode(1, zone('a')), aNode(2), aNode(3)],
      { placement: { spread: 'zone' } },
      [1, 2, 3, 1],
    ],
    [
      'counts replicas on cordoned nodes for their group',
      [
        aNode(1, { ...zone('a'), ...web(1), schedulable: false }),
        aNode(2, zone('a')),
        aNode(3, { ...zone('b'), ...busy(0.9) }),
      ],
      { placement: { spread: 'zone' } },
      [3],
    ],
    [
      'places all replicas in one group when the others refuse',
      [aNode(1, zone('a')), aNode(2, { ...zone('b'), schedulable: false })],
      { placement: { spread: 'zone' } },
      [1, 1, 1],
    ],
  ])('%s', (_about, nodes, workload, expected) => {
    expect(placedOn(nodes, workload, expected.length)).toEqual(expected)
    expect(placedOn([...nodes].reverse(), workload, expected.length)).toEqual(expected)
  })

  test('spreads replicas without requests over the nodes', () => {
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

describe('a placed replica affects the next ones of the same call', () => {
  test('in capacity, and a request is not split over nodes', () => {
    const nodes = [aNode(1), aNode(2, busy(0.75)), aNode(3, busy(0.75))]
    const { placed, unplaced } = placeReplicas(aWorkload({ resources: half }), 3, someFacts(nodes))
    expect([numbers(placed), unplaced]).toEqual([[1, 1], 1])
  })

  test('in anti-affinity with itself, and the refusals report it', () => {
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

test('retry triggers are returned only where a replica is unplaced', () => {
  const open = someFacts([aNode(1, { schedulable: false }), aNode(2)])
  expect(placeReplicas(aWorkload(), 1, open)).toMatchObject({ unplaced: 0, candidates: [], cures: [] })
  expect(placeReplicas(aWorkload(), 0, someFacts([]))).toMatchObject({ unplaced: 0, cures: [] })
  const { cures } = placeReplicas(aWorkload({ nodeId: nodeIdOf(1) }), 1, open)
  expect(cures).toEqual(['node_enrolled', 'node_schedulable', 'deployment'])
  expect(placeReplicas(aWorkload(), 1, someFacts([])).cures).toEqual(['node_enrolled'])
})

describe('a scheduling view', () => {
  test('is not changed by a decision', () => {
    const view = createSchedulingView(someFacts([aNode(1), aNode(2)]))
    expect(view.place(aWorkload(), 3)).toEqual(view.place(aWorkload(), 3))
  })

  test('ignores the release of a replica that it does not have', () => {
    const view = createSchedulingView(someFacts([aNode(1)], 1, 3))
    const workload = aWorkload({ resources: half })
    view.applyAssigned(nodeIdOf(1), 'web', half)
    view.applyReleased(nodeIdOf(1), 'web', half)
    view.applyReleased(nodeIdOf(1), 'web', half)
    view.applyReleased(nodeIdOf(1), 'other', half)
    expect(view.place(workload, 3)).toMatchObject({ unplaced: 1 })
  })

  test('counts a replica on an unknown node for the quota', () => {
    const view = createSchedulingView(someFacts([aNode(1)], 0, 1))
    view.applyAssigned(nodeIdOf(9), 'web', half)
    expect(view.place(aWorkload(), 1).unplaced).toBe(1)
    view.applyReleased(nodeIdOf(9), 'web', half)
    expect(view.place(aWorkload(), 1).unplaced).toBe(0)
  })

  test('uses a new quota at once', () => {
    const view = createSchedulingView(someFacts([aNode(1)], 5, 5))
    view.setContainers({ used: 5, limit: 6 })
    expect(view.place(aWorkload(), 2)).toMatchObject({ unplaced: 1 })
  })

  test('lists all nodes with their refusals, also where a replica fits', () => {
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
    ['agent', agent([]), agent(['volumes']), { needs: ['volumes'] }],
    ['agent that stated nothing', {}, agent(['volumes']), { needs: ['volumes'] }],
    ['label', zone('b'), zone('a'), { placement: { constraints: [inZone('a')] } }],
    ['label that is new', { labels: {} }, zone('a'), { placement: { constraints: [inZone('a')] } }],
    ['hidden country', { hiddenCountry: 'US' }, {}, { residency: outside('US') }],
    ['capacity', { capacity: { cpuMillis: 1, memoryBytes: 1 } }, {}, { resources: half }],
    ['what runs there', web(1), {}, { placement: { antiAffinity: ['web'] } }],
  ])(
    'accepts a replica after a change of %s, and refuses it after the change back',
    (_about, closed, open, workload) => {
      const view = createSchedulingView(someFacts([aNode(1, closed)]))
      const placed = () => view.place(aWorkload(workload), 1).placed.length
      const before = placed()
      view.setNode(aNode(1, open))
      const between = placed()
      view.setNode(aNode(1, closed))
      expect([before, between, placed()]).toEqual([0, 1, 0])
    },
  )

  test('does not reuse cached answers for another kind of workload', () => {
    const view = createSchedulingView(someFacts([aNode(1, zone('a')), aNode(2, zone('b'))]))
    const inA = aWorkload({ placement: { constraints: [inZone('a')] } })
    const inB = aWorkload({ placement: { constraints: [inZone('b')] } })
    expect([inA, inB, inA].flatMap((workload) => numbers(view.place(workload, 1).placed))).toEqual([1, 2, 1])
  })

  test('sorts candidates by name, not by id', () => {
    const nodes = [aNode(1, { name: 'z' }), aNode(2, { name: 'B' }), aNode(3, { name: 'a' })]
    const rows = createSchedulingView(someFacts(nodes)).candidates(aWorkload())
    expect(rows.map(({ nodeName }) => nodeName)).toEqual(['B', 'a', 'z'])
  })
})

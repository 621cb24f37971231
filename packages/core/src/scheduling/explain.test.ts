// Tests the explanation of a deployment that fits on no node, as a user reads it.

import { candidateShape, decode } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import { explainCandidates } from './explain.ts'
import type { NodeFacts, Workload } from './facts.ts'
import { aNode, aWorkload, someFacts } from './scheduling.fixture.ts'
import { placeReplicas } from './scheduling-view.ts'

const WORKLOAD = aWorkload({
  resources: { cpuMillis: 500, memoryBytes: 0 },
  placement: {
    constraints: [{ label: 'disk', operator: 'in', values: ['ssd'] }],
    antiAffinity: ['web'],
    affinity: ['db'],
  },
})
const ALONE = { placement: { ...WORKLOAD.placement, antiAffinity: [] } }
const ssd = { labels: { disk: 'ssd' } }
const busy = (cpuMillis: number) => ({ requested: { cpuMillis, memoryBytes: 0 } })
const runs = (...names: string[]) => ({ replicas: new Map(names.map((name) => [name, 1])) })

/** Five nodes that refuse a replica, each for a different reason and some for several reasons. */
const FIVE: readonly NodeFacts[] = [
  aNode(1, { ...ssd, ...runs('db'), schedulable: false }),
  aNode(2, { ...ssd, ...runs('db'), status: 'failed', schedulable: false }),
  aNode(3, { labels: { disk: 'hdd' }, ...runs('db') }),
  aNode(4, { ...ssd, ...runs('web') }),
  aNode(5, { ...ssd, ...runs('db'), ...busy(3700) }),
]

const explain = (nodes: readonly NodeFacts[], workload: Workload = WORKLOAD) =>
  explainCandidates(placeReplicas(workload, 1, someFacts(nodes)).candidates)

test('every node is named with every reason, and both sides of each comparison', () => {
  const { candidates, summary, cure } = explain(FIVE)
  expect(candidates.map(({ nodeName, refusals }) => [nodeName, ...refusals.map(({ code }) => code)])).toEqual(
    [
      ['node-1', 'node_cordoned'],
      ['node-2', 'node_not_ready', 'node_cordoned'],
      ['node-3', 'label_mismatch'],
      ['node-4', 'affinity_unmet', 'anti_affinity_conflict'],
      ['node-5', 'insufficient_cpu'],
    ],
  )
  for (const candidate of candidates) expect(decode(candidateShape, candidate)).toEqual(candidate)
  expect(summary).toBe(
    '0 of 5 nodes fit: 2 cordoned, 1 not ready, 1 without matching labels, 1 blocked by affinity, ' +
      '1 blocked by anti-affinity, 1 with insufficient CPU.',
  )
  expect(cure).toEqual([
    'Uncordon node-1.',
    'Free 200 millicores on node-5.',
    'Set the label disk to "ssd" on node-3.',
    'Bring node-2 back online. Uncordon node-2.',
    'Place a replica of db on node-4. Remove web from placement.antiAffinity.',
  ])
})

test.each<[string, number, Partial<NodeFacts>, Partial<Workload>]>([
  ['uncordoned', 1, { schedulable: true }, {}],
  ['relabelled', 3, ssd, {}],
  ['freed', 5, busy(3500), {}],
  ['back and uncordoned', 2, { status: 'ready', schedulable: true }, {}],
  ['joined, and its name taken out', 4, runs('db', 'web'), ALONE],
  ['lowered', 5, {}, { resources: { cpuMillis: 300, memoryBytes: 0 } }],
])('each remedy alone places a replica: %s', (_about, number, parts, change) => {
  const nodes = FIVE.map((node) => (node.name === `node-${number}` ? { ...node, ...parts } : node))
  const { placed } = placeReplicas({ ...WORKLOAD, ...change }, 1, someFacts(nodes))
  expect(placed).toEqual([FIVE[number - 1]?.id])
})

test('a request that is larger than every node must be lowered', () => {
  const { cure } = explain([aNode(1)], aWorkload({ resources: { cpuMillis: 5000, memoryBytes: 2 ** 40 } }))
  expect(cure).toEqual(['Lower the request to 4000 millicores and 8 GiB of memory.'])
})

test('nodes with an old agent are counted, with the lacking capabilities and the version of each', () => {
  const agent = (version: string, ...capabilities: string[]) => ({ agent: { version, capabilities } })
  const nodes = [
    aNode(1, agent('0.2.0', 'volumes')),
    aNode(2, agent('0.1.9')),
    aNode(3, { status: 'failed' }),
  ]
  const { summary, candidates, cure, canonical } = explain(
    nodes,
    aWorkload({ needs: ['volumes', 'networks'] }),
  )
  expect(summary).toBe('0 of 3 nodes fit: 3 with an agent that is too old, 1 not ready.')
  expect(candidates.slice(0, 2).flatMap(({ refusals }) => refusals)).toEqual(
    [
      ['1', ['networks'], '0.2.0'],
      ['2', ['volumes', 'networks'], '0.1.9'],
    ].map(([number, required, reported]) => ({
      filter: 'agent_version',
      code: 'agent_lacks_capability',
      required,
      reported,
      fix: `Upgrade the agent on node-${number}.`,
    })),
  )
  expect(cure).toEqual([
    'Upgrade the agent on node-1.',
    'Upgrade the agent on node-2.',
    'Bring node-3 back online. Upgrade the agent on node-3.',
  ])
  // Another version of an agent is another reason, so it is worth an event.
  const upgraded = [aNode(1, agent('0.2.1', 'volumes')), ...nodes.slice(1)]
  expect(explain(upgraded, aWorkload({ needs: ['volumes', 'networks'] })).canonical).not.toBe(canonical)
})

test('a quota that is reached has one remedy for all nodes', () => {
  const { candidates } = placeReplicas(aWorkload(), 1, someFacts([aNode(1), aNode(2)], 500, 500))
  expect(explainCandidates(candidates)).toMatchObject({
    summary: '0 of 2 nodes fit: 2 blocked by the containers quota.',
    cure: ['Raise the containers quota to 501.'],
  })
})

test('a tenant without nodes is asked to enroll one', () => {
  const { summary, candidates, cure, canonical } = explain([])
  expect({ summary, candidates, cure, canonical }).toEqual({
    summary: 'No node of this tenant is enrolled, so no replica can be placed.',
    candidates: [],
    cure: ['Enroll a node: run the command that `holdfast node join-token NAME` prints on the machine.'],
    canonical: '',
  })
})

test('nodes without a remedy lead to the advice to enroll another one', () => {
  const nodes = [aNode(1, { controlPlane: true }), aNode(2, { claim: 'shared', controlPlane: true })]
  expect(explain(nodes, aWorkload()).cure).toEqual(['Enroll another node.'])
  expect(explainCandidates(placeReplicas(aWorkload(), 1, someFacts(nodes, 5, 5)).candidates).cure).toEqual([
    'Enroll another node. Raise the containers quota to 6.',
  ])
})

test('a remedy takes the replicas placed before into account', () => {
  const { placed, candidates } = placeReplicas(
    aWorkload({ resources: { cpuMillis: 1500, memoryBytes: 0 } }),
    3,
    someFacts([aNode(1)]),
  )
  expect(placed).toHaveLength(2)
  expect(explainCandidates(candidates).cure).toEqual(['Free 500 millicores on node-1.'])
})

test('remedies of many nodes stay a short list', () => {
  const nodes = Array.from({ length: 40 }, (_node, number) => aNode(number, { schedulable: false }))
  expect(explain(nodes, aWorkload())).toMatchObject({ summary: '0 of 40 nodes fit: 40 cordoned.' })
  expect(explain(nodes, aWorkload()).cure).toHaveLength(10)
})

describe('the canonical text', () => {
  const base = explain(FIVE).canonical

  test('does not depend on the order of the nodes or on free capacity', () => {
    expect(explain([...FIVE].reverse()).canonical).toBe(base)
    const busier = FIVE.map((node) => (node.name === 'node-5' ? { ...node, ...busy(3900) } : node))
    expect(explain(busier).canonical).toBe(base)
  })

  test.each<[string, readonly NodeFacts[], Workload]>([
    ['a node less', FIVE.slice(1), WORKLOAD],
    ['a reason more', FIVE.map((node) => ({ ...node, claim: 'shared' })), WORKLOAD],
    [
      'another value reported',
      FIVE.map((node) => (node.name === 'node-3' ? { ...node, labels: { disk: 'nvme' } } : node)),
      WORKLOAD,
    ],
    ['another value required', FIVE, { ...WORKLOAD, resources: { cpuMillis: 501, memoryBytes: 0 } }],
    [
      'another status',
      FIVE.map((node) => (node.status === 'failed' ? { ...node, status: 'unreachable' } : node)),
      WORKLOAD,
    ],
  ])('changes with %s', (_about, nodes, workload) => {
    expect(explain(nodes, workload).canonical).not.toBe(base)
  })
})

// Tests groups of nodes in random clusters: every node is in one group, with exactly the reasons that it has alone.

import type { Json, NodeGroup } from '@holdfast/contract'
import { decode, nodeGroupShape } from '@holdfast/contract'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { arbitraryTenant, arbitraryWorkload } from './arbitrary.fixture.ts'
import { explainCandidates } from './explain.ts'
import { explainNodes } from './explain-nodes.ts'
import { boundGroups, mergeReported } from './groups.ts'
import { aNode, aWorkload, someFacts } from './scheduling.fixture.ts'

const SEED = 20_261_119
const PATIENCE = { timeout: 300_000 }

const reasonsOf = (reasons: readonly { filter: string; code: string; required: Json }[]): string =>
  JSON.stringify(reasons.map(({ filter, code, required }) => [filter, code, required]))

test(`every node is in the group of its reasons (seed ${SEED})`, PATIENCE, () => {
  const seen = { exact: 0, merged: 0 }
  fc.assert(
    fc.property(arbitraryTenant(1, 0, 60), arbitraryWorkload, (facts, workload) => {
      const { candidates, groups } = explainCandidates(explainNodes(workload, facts))
      const named = groups.flatMap(({ nodes, reasons }) =>
        nodes.map((name) => `${name} ${reasonsOf(reasons)}`),
      )
      expect(named.sort()).toEqual(
        candidates.map(({ nodeName, refusals }) => `${nodeName} ${reasonsOf(refusals)}`).sort(),
      )
      for (const { count, nodes, cure } of groups) {
        expect(count).toBe(nodes.length)
        const cures = candidates.flatMap((each) =>
          nodes.includes(each.nodeName) && each.cure ? [each.cure.text] : [],
        )
        expect(cure === undefined ? cures : cures.includes(cure.text)).toEqual(cure === undefined ? [] : true)
      }
      if (groups.length > 20)
        expect(new Set(groups.map(({ reasons }) => reasonsOf(reasons))).size).toBe(groups.length)
      for (const { reasons } of groups)
        if (JSON.stringify(reasons).includes('least')) seen.merged += 1
        else seen.exact += 1
    }),
    { numRuns: 500, seed: SEED },
  )
  expect(Math.min(seen.exact, seen.merged)).toBeGreaterThan(50)
})

test('few nodes are listed with what each reports, many with ranges', () => {
  const busy = (count: number) =>
    someFacts(
      Array.from({ length: count }, (_node, number) =>
        aNode(number, { requested: { cpuMillis: 3_000 + number, memoryBytes: 0 } }),
      ),
    )
  const workload = aWorkload({ resources: { cpuMillis: 1_500, memoryBytes: 0 } })
  const groupsOf = (count: number) => explainCandidates(explainNodes(workload, busy(count))).groups
  expect(groupsOf(2)).toMatchObject([
    { count: 1, nodes: ['node-0'], reasons: [{ fix: 'Free 500 millicores on node-0.' }] },
    { count: 1, nodes: ['node-1'], reasons: [{ reported: { free: { cpuMillis: 999 } } }] },
  ])
  const [group, ...others] = groupsOf(100)
  expect(others).toEqual([])
  expect(group).toMatchObject({
    count: 100,
    cure: { text: 'Free 500 millicores on node-0.' },
    reasons: [
      {
        code: 'insufficient_cpu',
        required: { cpuMillis: 1_500 },
        reported: { free: { cpuMillis: { least: 901, most: 1_000 } }, capacity: { cpuMillis: 4_000 } },
      },
    ],
  })
  expect(group?.reasons[0]).not.toHaveProperty('fix')
  expect(decode(nodeGroupShape, JSON.parse(JSON.stringify(group)))).toEqual(group)
})

test.each<[string, Json[], Json]>([
  ['equal values', ['a', 'a'], 'a'],
  ['numbers', [3, 1, 2], { least: 1, most: 3 }],
  [
    'objects',
    [
      { zone: 'a', n: 1 },
      { zone: 'b', n: 1 },
    ],
    { zone: { anyOf: ['a', 'b'] }, n: 1 },
  ],
  ['equal lists', [['x'], ['x']], ['x']],
  ['other values, the first eight', [...'abcdefghij'], { anyOf: [...'abcdefgh'] }],
])('reported values are merged: %s', (_about, values, merged) =>
  expect(mergeReported(values)).toEqual(merged),
)

test('bounded groups keep their counts and leave out names, then the smallest groups', () => {
  const group = (count: number): NodeGroup => ({
    reasons: [],
    count,
    nodes: Array.from({ length: count }, (_node, at) => `node-${String(at).padStart(4, '0')}`),
  })
  const groups = [group(3_000), group(500), group(1)]
  expect(boundGroups(groups, { bytes: 100_000, names: Number.POSITIVE_INFINITY })).toEqual(groups)
  const counted = (bytes: number, names: number) =>
    boundGroups(groups, { bytes, names }).map(({ count, nodes }) => [count, nodes.length])
  expect(counted(100_000, 10)).toEqual([
    [3_000, 10],
    [500, 10],
    [1, 1],
  ])
  for (const bytes of [60, 200, 5_000, 40_000]) {
    const bounded = boundGroups(groups, { bytes, names: 10_000 })
    expect(JSON.stringify(bounded).length).toBeLessThanOrEqual(bytes + 2)
    expect(bounded.map(({ count }) => count)).toEqual([3_000, 500, 1].slice(0, bounded.length))
  }
})

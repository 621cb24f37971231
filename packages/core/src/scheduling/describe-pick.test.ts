// Tests that the description of why a node was picked names the ranking criteria that decided.

import type { NodeId } from '@holdfast/contract'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { arbitraryTenant, arbitraryWorkload } from './arbitrary.fixture.ts'
import { createPickDescriber } from './describe-pick.ts'
import type { NodeFacts, TenantFacts, Workload } from './facts.ts'
import { aNode, aWorkload, naivePick, nodeIdOf, someFacts } from './scheduling.fixture.ts'

const describePick = (workload: Workload, facts: TenantFacts, chosen: NodeId) =>
  createPickDescriber(workload, facts).describe(chosen)

const zone = (value: string) => ({ labels: { zone: value } })
const running = (count: number) => ({ replicas: new Map([['web', count]]) })
const half = { requested: { cpuMillis: 2000, memoryBytes: 0 } }

test.each([
  ['describes the only node', [aNode(1)], {}, 'the only node'],
  [
    'describes the only node that fits',
    [aNode(1), aNode(2, { schedulable: false })],
    {},
    'the only one of 2 nodes that fits',
  ],
  [
    'describes equal nodes',
    [aNode(1), aNode(2)],
    {},
    'of 2 nodes that fit and rank the same, the first by id',
  ],
  [
    'describes the node with fewer replicas',
    [aNode(1), aNode(2, running(1))],
    {},
    'of 2 nodes that fit: the fewest replicas of web (0)',
  ],
  [
    'describes the node with more free capacity',
    [aNode(1), aNode(2, half)],
    {},
    'of 2 nodes that fit: the most free capacity (100 %)',
  ],
  [
    'describes the group with fewer replicas',
    [aNode(1, zone('a')), aNode(2, { ...zone('b'), ...running(2) }), aNode(3, zone('b'))],
    { placement: { spread: 'zone' } },
    'of 3 nodes that fit: zone a has the fewest replicas of web (0)',
  ],
  [
    'describes several ranks in order',
    [aNode(1), aNode(2, half), aNode(3, running(1))],
    {},
    'of 3 nodes that fit: the fewest replicas of web (0), then the most free capacity (100 %)',
  ],
])('%s', (_what, nodes, workload, text) =>
  expect(describePick(aWorkload(workload), someFacts(nodes), nodeIdOf(1))).toBe(text),
)

test('the description of the picked node differs from that of every other node, unless the lower id decided', () => {
  fc.assert(
    fc.property(arbitraryWorkload, arbitraryTenant(1, 2), (workload, facts) => {
      const chosen = naivePick(workload, facts)
      if (chosen === undefined) return
      const own = describePick(workload, facts, chosen)
      const others = facts.nodes
        .filter(({ id }) => id !== chosen)
        .map(({ id }) => describePick(workload, facts, id))
      expect(own).not.toBe('it was the only node that fits')
      // Only nodes that rank the same have the same description; in this case the node with the lower id was picked.
      for (const [index, text] of others.entries())
        if (text === own && text.endsWith('the first by id'))
          expect(chosen < (facts.nodes.filter(({ id }) => id !== chosen)[index]?.id ?? '')).toBe(true)
    }),
    { numRuns: 2_000 },
  )
})

test('a describer that was updated replica by replica equals a fresh one', () => {
  const came = fc.array(fc.tuple(fc.nat(), fc.boolean()), { maxLength: 6 })
  fc.assert(
    fc.property(arbitraryWorkload, arbitraryTenant(1, 2), came, (workload, facts, steps) => {
      const kept = createPickDescriber(workload, facts)
      let now = facts
      for (const [at, unnamed] of steps) {
        const { id } = facts.nodes[at % facts.nodes.length] ?? aNode(1)
        kept.count(id, 1, unnamed)
        now = {
          ...now,
          nodes: now.nodes.map((node) => (node.id === id ? withOne(workload, node, unnamed) : node)),
        }
      }
      for (const { id } of now.nodes) expect(kept.describe(id)).toBe(describePick(workload, now, id))
      for (const [at, unnamed] of steps)
        kept.count(facts.nodes[at % facts.nodes.length]?.id ?? nodeIdOf(1), -1, unnamed)
      for (const { id } of facts.nodes) expect(kept.describe(id)).toBe(describePick(workload, facts, id))
    }),
    { numRuns: 500 },
  )
})

/** A copy of a node with one more replica, either of the workload or of no deployment. */
function withOne({ name, resources }: Workload, node: NodeFacts, unnamed: boolean): NodeFacts {
  const as = unnamed ? '' : name
  const { cpuMillis, memoryBytes } = node.requested
  return {
    ...node,
    replicas: new Map([...node.replicas, [as, (node.replicas.get(as) ?? 0) + 1]]),
    requested: {
      cpuMillis: cpuMillis + resources.cpuMillis,
      memoryBytes: memoryBytes + resources.memoryBytes,
    },
  }
}

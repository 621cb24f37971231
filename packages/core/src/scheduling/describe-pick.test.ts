// What is said of a choice is what decided it.

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
  ['alone', [aNode(1)], {}, 'the only node'],
  ['others refuse', [aNode(1), aNode(2, { schedulable: false })], {}, 'the only one of 2 that accepts it'],
  ['no difference', [aNode(1), aNode(2)], {}, 'of 2 that accept it all alike, the first by id'],
  [
    'fewer of its own',
    [aNode(1), aNode(2, running(1))],
    {},
    'of 2 that accept it: the fewest replicas of web (0)',
  ],
  ['more room', [aNode(1), aNode(2, half)], {}, 'of 2 that accept it: the most room (100 % free)'],
  [
    'a group with fewer',
    [aNode(1, zone('a')), aNode(2, { ...zone('b'), ...running(2) }), aNode(3, zone('b'))],
    { placement: { spread: 'zone' } },
    'of 3 that accept it: zone a has the fewest replicas of web (0)',
  ],
  [
    'several ranks, one after the other',
    [aNode(1), aNode(2, half), aNode(3, running(1))],
    {},
    'of 3 that accept it: the fewest replicas of web (0), then the most room (100 % free)',
  ],
])('%s', (_what, nodes, workload, text) =>
  expect(describePick(aWorkload(workload), someFacts(nodes), nodeIdOf(1))).toBe(text),
)

test('whatever is picked, every rank that is named speaks for it, and some rank or the id told it from the others', () => {
  fc.assert(
    fc.property(arbitraryWorkload, arbitraryTenant(1, 2), (workload, facts) => {
      const chosen = naivePick(workload, facts)
      if (chosen === undefined) return
      const own = describePick(workload, facts, chosen)
      const others = facts.nodes
        .filter(({ id }) => id !== chosen)
        .map(({ id }) => describePick(workload, facts, id))
      expect(own).not.toBe('it was the one that accepted it')
      // Another node may be described alike only where it is as good, and then the lower id was taken.
      for (const [index, text] of others.entries())
        if (text === own && text.endsWith('the first by id'))
          expect(chosen < (facts.nodes.filter(({ id }) => id !== chosen)[index]?.id ?? '')).toBe(true)
    }),
    { numRuns: 2_000 },
  )
})

test('kept up replica by replica, it says what one that is made anew says', () => {
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

/** As a replica of the workload, or as nobody's. */
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

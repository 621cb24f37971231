// What is said of a choice is what decided it.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { arbitraryTenant, arbitraryWorkload } from './arbitrary.fixture.ts'
import { describePick } from './describe-pick.ts'
import { aNode, aWorkload, naivePick, nodeIdOf, someFacts } from './fixture.ts'

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

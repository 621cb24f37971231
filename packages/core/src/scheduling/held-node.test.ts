// Tests that a node which is entered again is recognised as the same only if no fact about it has changed.

import { expect, test } from 'vitest'
import type { NodeFacts } from './facts.ts'
import { sameFacts } from './held-node.ts'
import { aNode } from './scheduling.fixture.ts'

const node = aNode(1, {
  labels: { zone: 'a' },
  attested: { country: 'DE' },
  agent: { version: '0.1.0', capabilities: ['limits'] },
  replicas: new Map([['web', 1]]),
  pool: { poolBytes: 10, claimedBytes: 1 },
})

test('a copy of a node is the same', () => {
  const { labels, capacity, requested, attested } = node
  const copy = { labels: { ...labels }, capacity: { ...capacity }, requested: { ...requested } }
  expect(
    sameFacts(node, { ...node, ...copy, attested: { ...attested }, replicas: new Map(node.replicas) }),
  ).toBe(true)
})

test.each<Partial<NodeFacts>>([
  { name: 'other' },
  { status: 'failed' },
  { schedulable: false },
  { controlPlane: true },
  { claim: 'shared' },
  { labels: { zone: 'b' } },
  { attested: { country: 'FR' } },
  { attested: { country: 'DE', region: 'eu' } },
  { hiddenCountry: 'FR' },
  { agent: { version: '0.1.0', capabilities: [] } },
  { capacity: { ...node.capacity, cpuMillis: 1 } },
  { capacity: { ...node.capacity, memoryBytes: 1 } },
  { requested: { ...node.requested, cpuMillis: 1 } },
  { requested: { ...node.requested, memoryBytes: 1 } },
  { replicas: new Map([['web', 2]]) },
  { replicas: new Map([['other', 1]]) },
  { replicas: new Map() },
  { pool: undefined },
  { pool: { poolBytes: 10, claimedBytes: 2 } },
  { pool: { poolBytes: 11, claimedBytes: 1 } },
])('a node with %o is another', (change) => {
  expect(sameFacts(node, { ...node, ...change })).toBe(false)
})

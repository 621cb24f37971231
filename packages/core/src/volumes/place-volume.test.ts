import { NODE_COUNTRY, type VolumeCopy, type VolumeSpec } from '@holdfast/contract'
import { expect, test } from 'vitest'
import type { NodeFacts } from '../scheduling/facts.ts'
import { aNode, nodeIdOf, someFacts } from '../scheduling/scheduling.fixture.ts'
import { claimedBytes } from './claimed-bytes.ts'
import { explainVolume, nodesWithoutRoom, placeCopies, refusalOfNode } from './place-volume.ts'
import { placedPhase, quotaBytes } from './volume-state.ts'

const POOL = { poolBytes: 1000, claimedBytes: 0 }
const AGENT = { version: '1.0.0', capabilities: ['volumes'] }
const RULES = { enforcement: true, regions: { eu: ['DE', 'FR'] } }

const aSpec = (parts: Partial<VolumeSpec> = {}): VolumeSpec => ({
  name: 'data',
  class: 'replicated',
  sizeBytes: 100,
  replicas: 1,
  ...parts,
})
const demandOf = (parts: Partial<VolumeSpec> = {}) => ({
  spec: aSpec(parts),
  rules: RULES,
  ofPlatform: false,
})
const node = (number: number, parts: Partial<NodeFacts> = {}) =>
  aNode(number, { pool: POOL, agent: AGENT, ...parts })
const numbersOf = (copies: readonly VolumeCopy[]) =>
  copies.map(({ nodeId, role }) => `${role} ${Number(nodeId.slice(5))}`)
const place = (parts: Partial<VolumeSpec>, nodes: readonly NodeFacts[], before: readonly VolumeCopy[] = []) =>
  numbersOf(placeCopies(demandOf(parts), before, someFacts(nodes)))

test('the primary goes to the node with the most free storage, copies to the next ones', () => {
  const nodes = [
    node(1, { pool: { poolBytes: 1000, claimedBytes: 500 } }),
    node(2),
    node(3, { pool: { poolBytes: 2000, claimedBytes: 0 } }),
  ]
  expect(place({ replicas: 2 }, nodes)).toEqual(['primary 3', 'replica 2', 'replica 1'])
})

test('no two copies share a node, and missing ones stay missing', () => {
  expect(place({ replicas: 4 }, [node(1), node(2)])).toEqual(['primary 1', 'replica 2'])
})

test.each([
  ['not ready', { status: 'unreachable' }],
  ['cordoned', { schedulable: false }],
  ['of the control plane', { controlPlane: true }],
  ['being released', { claim: 'releasing' }],
  ['without a pool', { pool: undefined }],
  ['without an agent for volumes', { agent: { version: '0.1.0' } }],
  ['with a pool that lacks one byte', { pool: { poolBytes: 1000, claimedBytes: 951 - 200 } }],
] as const)('a node that is %s holds no copy', (_about, parts) => {
  expect(place({ replicas: 0 }, [node(1, parts)])).toEqual([])
})

test('a pool holds a volume that claims exactly its free space', () => {
  const pool = { poolBytes: 1000, claimedBytes: 950 - claimedBytes(100) }
  expect(place({ replicas: 0 }, [node(1, { pool })])).toEqual(['primary 1'])
})

test('residency applies to the primary and to every copy', () => {
  const nodes = ['US', 'DE', 'FR'].map((country, at) => node(at + 1, { labels: { [NODE_COUNTRY]: country } }))
  expect(place({ replicas: 2, residency: { region: 'eu' } }, nodes)).toEqual(['primary 2', 'replica 3'])
  expect(place({ replicas: 2, residency: { country: 'IT' } }, nodes)).toEqual([])
})

test('a named node holds the primary or nothing does, and copies are elsewhere', () => {
  const nodeId = nodeIdOf(2)
  expect(place({ nodeId }, [node(1), node(2)])).toEqual(['primary 2', 'replica 1'])
  expect(place({ nodeId }, [node(1), node(2, { schedulable: false })])).toEqual([])
})

test('copies that exist stay; those beyond the desired number are dropped, the newest first', () => {
  const nodes = [node(1), node(2), node(3)]
  const before = placeCopies(demandOf({ replicas: 2 }), [], someFacts(nodes))
  expect(place({ replicas: 1 }, nodes, before)).toEqual(['primary 1', 'replica 2'])
  const cordoned = nodes.map((each) => ({ ...each, schedulable: false }))
  expect(place({ replicas: 2 }, cordoned, before)).toEqual(numbersOf(before))
})

test('an object volume is on no node', () => {
  expect(place({ class: 'object', replicas: 0 }, [node(1)])).toEqual([])
})

test('the phase follows from the copies', () => {
  const [primary, replica] = placeCopies(demandOf(), [], someFacts([node(1), node(2)]))
  if (primary === undefined || replica === undefined) throw new Error('not placed')
  expect(placedPhase(aSpec(), [])).toEqual({ phase: 'Pending', reason: 'unschedulable' })
  expect(placedPhase(aSpec(), [primary])).toEqual({ phase: 'Materializing', reason: 'under_replicated' })
  expect(placedPhase(aSpec(), [primary, replica])).toEqual({ phase: 'Materializing', reason: null })
  const current = { ...primary, state: 'current' as const }
  expect(placedPhase(aSpec(), [current])).toEqual({ phase: 'Ready', reason: 'under_replicated' })
  expect(placedPhase(aSpec({ class: 'object' }), [])).toEqual({ phase: 'Ready', reason: null })
})

test('a volume counts with all its copies', () => {
  expect(quotaBytes(aSpec({ replicas: 2 }))).toBe(300)
})

test('an explanation lists every node without a copy, with every refusal', () => {
  const nodes = [node(1), node(2, { schedulable: false, pool: undefined }), node(3, { pool: undefined })]
  const copies = placeCopies(demandOf(), [], someFacts(nodes))
  const { summary, candidates } = explainVolume(demandOf(), copies, someFacts(nodes))
  expect(candidates.map(({ nodeName, refusals }) => [nodeName, refusals.map(({ code }) => code)])).toEqual([
    ['node-2', ['node_cordoned', 'storage_pool_missing']],
    ['node-3', ['storage_pool_missing']],
  ])
  expect(summary).toContain('2 without a storage pool')
  expect(candidates[1]?.refusals[0]?.fix).toContain('storage pool')
})

test('a node is refused by name of what refuses it', () => {
  const facts = someFacts([node(1), node(2, { schedulable: false }), node(3)])
  const copies = placeCopies(demandOf({ replicas: 0 }), [], facts)
  const refusal = (number: number) => refusalOfNode(demandOf(), copies, nodeIdOf(number), facts)
  expect([1, 2, 3, 4].map(refusal)).toEqual([
    'it already holds a copy',
    'node_cordoned',
    undefined,
    'this tenant has no such node',
  ])
})

test('a larger volume needs room on every node with a copy', () => {
  const nodes = [node(1, { pool: { poolBytes: 2000, claimedBytes: 200 } }), node(2), node(3)]
  const copies = placeCopies(demandOf(), [], someFacts(nodes))
  expect(nodesWithoutRoom(copies, 950, someFacts(nodes))).toEqual([])
  expect(nodesWithoutRoom(copies, 951, someFacts(nodes))).toEqual(['node-2'])
})

import { expect, test } from 'vitest'
import { mayBeOnNode, type NetworkSituation, type NetworkState, nextNetwork } from './next-network.ts'

const NODE = { isLeaving: false, isAble: true }
const pending: NetworkState = { phase: 'Pending', reason: null, desired: 'present' }
const ready: NetworkState = { phase: 'Ready', reason: null, desired: 'present' }
const failed: NetworkState = { phase: 'Failed', reason: 'name_in_use', desired: 'present' }
const deleting: NetworkState = { phase: 'Deleting', reason: null, desired: 'removed' }
const present = { state: 'present', reason: '' } as const
const removed = { state: 'removed', reason: '' } as const
const taken = { state: 'failed', reason: 'name_in_use' } as const

type Table = readonly [
  about: string,
  before: NetworkState,
  situation: Partial<NetworkSituation>,
  after: Partial<NetworkState>,
  occurrence?: 'ready' | 'failed',
]

const ROWS: readonly Table[] = [
  ['waits for the first report', pending, {}, pending],
  ['waits for a newer agent', pending, { node: { ...NODE, isAble: false } }, { reason: 'agent_version' }],
  ['is ready once it is reported', pending, { report: present }, ready, 'ready'],
  ['stays ready', ready, { report: present }, ready],
  ['fails with the reason of the agent', ready, { report: taken }, failed, 'failed'],
  ['stays failed without a second event', failed, { report: taken }, failed],
  ['is ready again after a repair', failed, { report: present }, ready, 'ready'],
  [
    'fails when its node is removed',
    ready,
    { node: undefined, report: present },
    { phase: 'Failed', reason: 'node_removed', desired: 'removed' },
    'failed',
  ],
  [
    'must leave a node whose claim is released',
    ready,
    { node: { ...NODE, isLeaving: true }, report: present },
    { phase: 'Failed', reason: 'node_leaving', desired: 'removed' },
    'failed',
  ],
  ['stays while the agent has not removed it', deleting, { report: present }, deleting],
  [
    'stays while the agent cannot remove it',
    deleting,
    { report: { state: 'failed', reason: 'in_use' } },
    deleting,
  ],
  ['stays while no report proves that it was not created', deleting, {}, deleting],
]

test.each(ROWS.map((row) => ({ about: row[0], row })))('a network $about', ({ row }) => {
  const [, before, parts, after, occurrence] = row
  const next = nextNetwork(before, { node: NODE, report: undefined, ...parts })
  expect(next).toMatchObject({ kind: 'keep', state: after })
  expect(next.kind === 'keep' && next.occurrence).toBe(occurrence)
})

test.each([
  ['after the agent has confirmed it', { node: NODE, report: removed }, true],
  ['if its agent never knew networks', { node: { ...NODE, isAble: false }, report: undefined }, true],
  ['if its node is gone', { node: undefined, report: present }, false],
] as const)('a network in phase Deleting ends %s', (_about, situation, confirmed) => {
  expect(nextNetwork(deleting, situation)).toEqual({ kind: 'delete', confirmed })
})

test('an older agent that reported a network before may still have it', () => {
  expect(mayBeOnNode({ node: { ...NODE, isAble: false }, report: present })).toBe(true)
})

// Tests which divergences of a volume are listed, which can be reached, and which nodes count as not observed.

import { asNodeId, asVolumeId, type QuarantinedCopy } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { type KeepingNode, listDivergences } from './list-divergences.ts'

const VOLUME = asVolumeId('vol_1')
const SINCE = '2026-01-01T00:00:00.000Z'
const kept = (epoch: number, over: Partial<QuarantinedCopy> = {}): QuarantinedCopy => ({
  volume: VOLUME,
  epoch,
  usedBytes: 10,
  since: SINCE,
  ...over,
})
const node = (name: string, over: Partial<KeepingNode> = {}): KeepingNode => ({
  id: asNodeId(name),
  name,
  isHeard: true,
  canSend: true,
  pool: { copies: [], quarantined: [] },
  ...over,
})
const find = (nodes: readonly KeepingNode[], suspects: readonly string[] = []) =>
  listDivergences({ id: VOLUME, epoch: 3, suspects: suspects.map(asNodeId) }, nodes)

test('lists the kept data of every node, the newest epoch first, for at least 7 days', () => {
  const uncounted = { volume: VOLUME, epoch: 2, since: SINCE }
  const foreign = { ...kept(9), volume: asVolumeId('vol_2') }
  const { items, unobserved } = find([
    node('b', { pool: { copies: [], quarantined: [kept(1), foreign] } }),
    node('a', { pool: { copies: [], quarantined: [uncounted, kept(1)] } }),
  ])
  expect(items.map(({ epoch, nodeName, bytes }) => [epoch, nodeName, bytes])).toEqual([
    [2, 'a', null],
    [1, 'a', 10],
    [1, 'b', 10],
  ])
  expect(items[0]).toMatchObject({
    keptSince: SINCE,
    keptUntil: '2026-01-08T00:00:00.000Z',
    unavailable: null,
  })
  expect(unobserved).toEqual([])
})

test('counts several states of one epoch on one node as one divergence, from the oldest state', () => {
  const states = [kept(1, { since: '2026-01-05T00:00:00.000Z' }), kept(1)]
  expect(find([node('a', { pool: { quarantined: states } })]).items).toMatchObject([
    { epoch: 1, bytes: 20, keptSince: SINCE, keptUntil: '2026-01-08T00:00:00.000Z' },
  ])
})

test('has another revision once the node keeps further data of the epoch', () => {
  const revisionOf = (...states: QuarantinedCopy[]) =>
    find([node('a', { pool: { quarantined: states } })]).items[0]?.revision
  expect(revisionOf(kept(1))).toBe(Date.parse(SINCE))
  expect(revisionOf(kept(1), kept(2))).toBe(Date.parse(SINCE))
  const later = '2026-01-05T00:00:00.000Z'
  expect(revisionOf(kept(1), kept(1, { since: later }))).toBe(Date.parse(later))
})

test.each([
  ['with a session', {}, undefined],
  ['that is silent', { isHeard: false }, 'node_unreachable'],
  ['with an old agent', { canSend: false }, 'agent_outdated'],
] as const)('states why the data of a node %s cannot be reached now', (_name, over, reason) => {
  const [item] = find([node('a', { ...over, pool: { quarantined: [kept(1)] } })]).items
  expect(item?.unavailable?.reason).toBe(reason)
})

const leftBehind = { copies: [{ volume: VOLUME, epoch: 2, role: 'primary' }], quarantined: [] } as const
const current = { copies: [{ volume: VOLUME, epoch: 3, role: 'primary' }], quarantined: [] } as const
const replica = { copies: [{ volume: VOLUME, epoch: 2, role: 'replica' }], quarantined: [] } as const

const NODES = [
  ['an earlier primary that is away', { isHeard: false, pool: leftBehind }, 'node_unreachable'],
  ['an earlier primary that is back', { pool: leftBehind }, 'not_set_aside'],
  ['a node with an unreadable pool', { pool: {} }, 'pool_unreadable'],
  ['a silent node without a report', { isHeard: false, pool: undefined }, 'node_unreachable'],
  ['the present primary', { pool: current }, undefined],
  ['a copy', { pool: replica }, undefined],
  ['a silent node whose last report has nothing', { isHeard: false }, undefined],
] as const

test.each(NODES)('tells whether %s could be observed', (_name, over, reason) => {
  expect(find([node('a', over)], ['a']).unobserved.map((one) => one.reason)).toEqual(
    reason === undefined ? [] : [reason],
  )
})

test('names nodes that were removed, and no node that never had the volume', () => {
  const { unobserved } = find([node('b', { isHeard: false, pool: undefined })], ['gone', 'gone'])
  expect(unobserved).toMatchObject([{ nodeId: 'gone', nodeName: 'gone', reason: 'node_removed' }])
})

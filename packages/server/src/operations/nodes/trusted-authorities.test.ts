// Which nodes count as having confirmed a root.

import { asNodeId, asTenantId } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { nodes, type StoredNode } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { countConfirmations, countUnconfirmed, describeUnconfirmed } from './trusted-authorities.ts'

const TENANT = asTenantId('00000000-0000-4000-8000-000000000001')
const stated = (name: string, changes: Partial<StoredNode> = {}) => ({
  id: asNodeId('node_01JCPZ0000000000000000000B'),
  name,
  generation: 2,
  session: { replica: null, epoch: 5, bootId: '' },
  authorities: { generation: 2, epoch: 5, pins: ['old', 'next'] },
  ...changes,
})

function storeOf(records: readonly object[], unreadable = 0) {
  const list = ({ folder }: { folder: string }) =>
    (folder === nodes.folder ? records : [{ id: TENANT }]).map((record) => ({ record }))
  const keysOf = () => Array(records.length + unreadable).fill('key')
  return { list, keysOf } as unknown as Pick<Store, 'list' | 'keysOf'>
}

const { authorities: _, ...olderAgent } = stated('older-agent')

test('counts nodes whose agents stated the root in their current session', () => {
  const records = [
    stated('confirmed'),
    olderAgent,
    stated('other-roots', { authorities: { generation: 2, epoch: 5, pins: ['old'] } }),
    stated('session-of-an-older-server', { session: { replica: null, epoch: 6, bootId: '' } }),
    stated('enrolled-again', { generation: 3 }),
  ]
  expect(countConfirmations(storeOf(records), 'next')).toEqual({
    nodes: 5,
    unconfirmed: ['older-agent', 'other-roots', 'session-of-an-older-server', 'enrolled-again'],
  })
  expect(countUnconfirmed(storeOf(records), [{ pin: 'next' }, { pin: 'old' }])).toEqual(
    new Map([
      ['next', 4],
      ['old', 3],
    ]),
  )
})

test('counts a node whose record cannot be read as unconfirmed', () => {
  expect(countConfirmations(storeOf([stated('confirmed')], 1), 'next')).toMatchObject({
    nodes: 2,
    unconfirmed: ['(unreadable)'],
  })
})

test('names ten nodes at most', () => {
  const names = Array.from({ length: 12 }, (_, index) => `n${index}`)
  expect(describeUnconfirmed({ nodes: 40, unconfirmed: names })).toBe(
    '12 of 40 nodes: n0, n1, n2, n3, n4, n5, n6, n7, n8, n9 and 2 more',
  )
  expect(describeUnconfirmed({ nodes: 1, unconfirmed: ['n0'] })).toBe('1 of 1 node: n0')
})

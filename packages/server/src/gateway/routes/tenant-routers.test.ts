// Tests which routers a node learns, who is notified of a change, and how long plain HTTP is accepted.

import type { NodeId } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import type { StoredNode } from '../../store/records.ts'
import { nodes } from '../../store/records.ts'
import { inTenant } from '../../store/transaction.ts'
import { ACME, aNode, begin, createListener, GLOBEX, NODES, TENANTS } from './route-table.fixture.ts'
import { ROUTERS } from './tenant-routers.ts'

const [ONE, TWO, THREE] = NODES as [NodeId, NodeId, NodeId]
const NOW = 1_000_000
const at = (id: NodeId) => ({ tenant: ACME, nodeId: id })

/** A router with a certificate that is named like its node. */
const secureNode = (id: NodeId, over: object = {}, changes: Partial<StoredNode> = {}): StoredNode =>
  aNode(id, {
    peerAddress: `${id.at(-1)}:1`,
    secureRouter: {
      generation: 1,
      epoch: 0,
      address: `${id.at(-1)}:2`,
      certificates: [`c${id.at(-1)}`],
      ...over,
    },
    ...changes,
  })
const seen = (id: NodeId, over: object = {}) => ({
  address: `${id.at(-1)}:1`,
  secureAddress: `${id.at(-1)}:2`,
  certificates: [`c${id.at(-1)}`],
  ...over,
})

function world(...records: StoredNode[]) {
  const store = begin()
  for (const record of records) store.put(inTenant(ACME, nodes, record.id), record)
  const listener = createListener(store)
  const notified: string[] = []
  return {
    notified,
    view: (id: NodeId, nowMs = NOW) => listener.index.routes.routersFor(at(id), nowMs),
    put(record: StoredNode) {
      const changes = store.put(inTenant(ACME, nodes, record.id), record)
      listener.index.apply(changes, ({ nodeId }, changed) => changed === ROUTERS && notified.push(nodeId))
    },
    remove(id: NodeId) {
      const changes = store.delete(inTenant(ACME, nodes, id))
      listener.index.apply(changes, ({ nodeId }, changed) => changed === ROUTERS && notified.push(nodeId))
    },
    corrupt(id: NodeId) {
      listener.index.apply(store.corrupt(inTenant(ACME, nodes, id)), () => {})
    },
  }
}

describe('the other routers', () => {
  test('are known to a router with a certificate, and plain HTTP is over', () => {
    const { view } = world(secureNode(ONE), secureNode(TWO), secureNode(THREE))
    expect(view(ONE)).toEqual({ plain: false, others: [seen(TWO), seen(THREE)] })
  })

  test('of an older version keep plain HTTP for all, and learn nothing themselves', () => {
    const { view } = world(secureNode(ONE), aNode(TWO, { peerAddress: '1:1' }))
    expect(view(ONE)).toEqual({ plain: true, others: [{ address: '1:1', certificates: [] }] })
    expect(view(TWO)).toBeUndefined()
  })

  test('that do not route are ignored', () => {
    expect(world(secureNode(ONE), aNode(TWO, {})).view(ONE)).toEqual({ plain: false, others: [] })
  })

  test('keep plain HTTP until their time is over', () => {
    const plainUntil = new Date(NOW).toISOString()
    const { view } = world(secureNode(ONE, { plainUntil }), secureNode(TWO))
    expect([view(TWO, NOW - 1)?.plain, view(TWO, NOW)?.plain]).toEqual([true, false])
    expect(view(ONE, NOW - 1)?.plain).toBe(true)
  })

  test('whose session an older server opened keep their certificate and use plain HTTP', () => {
    const { view } = world(secureNode(ONE), secureNode(TWO, { epoch: 7 }))
    expect(view(ONE)).toEqual({ plain: true, others: [{ address: '1:1', certificates: ['c1'] }] })
  })

  test('lose the certificates of an earlier enrollment', () => {
    const { view } = world(secureNode(ONE), secureNode(TWO, {}, { generation: 2 }))
    expect(view(ONE)?.others).toEqual([{ address: '1:1', certificates: [] }])
  })

  test('are sent again after a change of trust, and after no other change', () => {
    const { view, put, remove, notified } = world(
      secureNode(ONE),
      secureNode(TWO),
      aNode(THREE, { peerAddress: '2:1' }),
    )
    put(secureNode(TWO, {}, { labels: { disk: 'ssd' }, status: 'unreachable' }))
    expect(notified).toEqual([])
    put(secureNode(TWO, { certificates: ['new', 'c1'] }))
    expect(notified.splice(0)).toEqual([ONE])
    expect(view(ONE)?.others).toMatchObject([{ certificates: ['new', 'c1'] }, {}])
    remove(TWO)
    expect(notified.splice(0)).toEqual([ONE])
    expect(view(ONE)?.others).toMatchObject([{ address: '2:1' }])
    put(secureNode(THREE))
    expect(notified).toEqual([ONE])
    expect(view(ONE)).toEqual({ plain: false, others: [seen(THREE)] })
  })

  test('are not distrusted because a node cannot be read', () => {
    const { view, corrupt } = world(secureNode(ONE), secureNode(TWO))
    corrupt(THREE)
    expect(view(ONE)).toEqual({})
  })

  test('of another tenant are unknown', () => {
    const store = begin()
    for (const tenant of TENANTS) {
      const id = tenant === ACME ? ONE : TWO
      store.put(inTenant(tenant, nodes, id), secureNode(id))
    }
    const { routes } = createListener(store).index
    expect(routes.routersFor(at(ONE), NOW)).toEqual({ plain: false, others: [] })
    expect(routes.routersFor({ tenant: GLOBEX, nodeId: TWO }, NOW)).toEqual({ plain: false, others: [] })
  })
})

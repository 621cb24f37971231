// Tests which pools a node may use, and when all data of a pool must be deleted.

import { describe, expect, test } from 'vitest'
import { judgePool, type PoolSituation, type WipeSituation, wipeOrder } from './judge-pool.ts'

const SIZE = { poolBytes: 100, usedBytes: 7 }
const NONE = { poolBytes: 0, usedBytes: 0 }

describe('a node', () => {
  test.each<readonly [string, Partial<PoolSituation>, ReturnType<typeof judgePool>]>([
    ['without a pool', {}, { poolId: undefined, storage: undefined, degraded: undefined }],
    [
      'whose pool is not configured',
      { known: 'a' },
      { poolId: 'a', storage: undefined, degraded: undefined },
    ],
    [
      'with its first pool',
      { stated: { ...SIZE, poolId: 'a' } },
      { poolId: 'a', storage: { ...SIZE, poolId: 'a' }, degraded: undefined },
    ],
    [
      'with its pool',
      { known: 'a', stated: { ...SIZE, poolId: 'a' } },
      { poolId: 'a', storage: { ...SIZE, poolId: 'a' }, degraded: undefined },
    ],
    [
      'with another pool',
      { known: 'a', stated: { ...SIZE, poolId: 'b' } },
      { poolId: 'a', storage: { ...NONE, poolId: 'b', fault: 'pool_changed' }, degraded: 'pool_changed' },
    ],
    [
      'whose agent found another pool',
      { known: 'a', stated: { ...NONE, fault: 'pool_changed' } },
      { poolId: 'a', storage: { ...NONE, fault: 'pool_changed' }, degraded: 'pool_changed' },
    ],
    [
      'whose pool cannot be read',
      { known: 'a', stated: { ...NONE, fault: 'pool_unreadable' } },
      { poolId: 'a', storage: { ...NONE, fault: 'pool_unreadable' }, degraded: undefined },
    ],
    [
      'with a pool that another tenant lost',
      { stated: { ...SIZE, poolId: 'a' }, isMarked: true },
      { poolId: 'a', storage: { ...NONE, poolId: 'a', fault: 'pool_foreign' }, degraded: undefined },
    ],
  ])('%s', (_name, situation, expected) => {
    expect(judgePool({ known: undefined, stated: undefined, isMarked: false, ...situation })).toEqual(
      expected,
    )
  })
})

describe('the data of a pool', () => {
  test.each<readonly [string, Partial<WipeSituation>, string]>([
    ['that stays in use', {}, 'kept'],
    ['of a released node', { release: 'r' }, 'released r'],
    ['of a released node, deleted by an earlier order', { release: 'r', wiped: 'm' }, 'released r'],
    ['of a released node, deleted', { release: 'r', wiped: 'r' }, 'kept'],
    ['that another tenant lost', { mark: 'm' }, 'foreign m'],
    ['that another tenant lost, deleted', { mark: 'm', wiped: 'm' }, 'kept'],
    ['of an unknown tenant', { foreign: 't' }, 'foreign foreign.t'],
    ['of a tenant that still has the machine', { foreign: 't', isOwned: true }, 'kept'],
    ['of a pool without an id', { poolId: undefined, release: 'r' }, 'kept'],
  ])('%s', (_name, situation, expected) => {
    const none = { release: undefined, mark: undefined, foreign: undefined, wiped: undefined }
    const order = wipeOrder({ poolId: 'a', isOwned: false, ...none, ...situation })
    expect(order ? `${order.reason} ${order.id}` : 'kept').toBe(expected)
  })
})

import { expect, test } from 'vitest'
import { statusText, storageText } from './nodes.ts'

test('shows the used and total bytes of a pool, its fault, and nothing without a pool', () => {
  expect(storageText({ storage: { poolBytes: 128 * 1024 ** 2, usedBytes: 1024 ** 2 } })).toBe(
    '1MiB of 128MiB',
  )
  expect(storageText({ storage: { poolBytes: 0, usedBytes: 0, fault: 'pool_changed' } })).toBe('pool_changed')
  expect(storageText({})).toBe('')
})

test('shows why a node is degraded', () => {
  expect(statusText({ status: 'degraded', reason: 'pool_changed' })).toBe('degraded (pool_changed)')
  expect(statusText({ status: 'ready' })).toBe('ready')
})

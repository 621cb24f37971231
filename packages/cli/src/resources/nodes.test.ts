import { expect, test } from 'vitest'
import { storageText } from './nodes.ts'

test('shows the used and total bytes of a pool, its fault, and nothing without a pool', () => {
  expect(storageText({ storage: { poolBytes: 128 * 1024 ** 2, usedBytes: 1024 ** 2 } })).toBe(
    '1MiB of 128MiB',
  )
  expect(storageText({ storage: { poolBytes: 0, usedBytes: 0, fault: 'pool_changed' } })).toBe('pool_changed')
  expect(storageText({})).toBe('')
})

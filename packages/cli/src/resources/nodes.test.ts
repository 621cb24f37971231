import { expect, test } from 'vitest'
import { storageText } from './nodes.ts'

test('shows the used and total bytes of a pool, and nothing without a pool', () => {
  expect(storageText({ storage: { poolBytes: 128 * 1024 ** 2, usedBytes: 1024 ** 2 } })).toBe(
    '1MiB of 128MiB',
  )
  expect(storageText({})).toBe('')
})

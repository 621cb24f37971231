import type { Json } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { showValue, wordsOf } from './show-value.ts'

test.each<[Json, string]>([
  ['ready', 'ready'],
  [null, 'none'],
  [[], 'none'],
  [['db', 'web'], 'db, web'],
  [{ schedulable: false }, 'schedulable false'],
  [{ memoryBytes: 3 * 1024 ** 3, cpuMillis: 500 }, 'memory 3 GiB; 0.5 CPU'],
  [{ freeBytes: { least: 1024, most: 2048 } }, 'free 1 KiB to 2 KiB'],
  [{ none: ['db'] }, 'not db'],
  [{ anyOf: ['a', 'b'] }, 'a, b and others'],
  [{ 'holdfast.io/country': { none: ['US'] } }, 'holdfast.io/country not US'],
  [[{ network: 'front', nodeId: null }], 'network front; node id none'],
  [[{ label: 'disk', operator: 'in', values: ['ssd', 'nvme'] }], 'disk in ssd, nvme'],
  [[{ label: 'gpu', operator: 'notExists' }], 'gpu not exists'],
  [{ LOG_LEVEL: 'info' }, 'LOG_LEVEL info'],
  [{}, 'none'],
])('%j is shown as %s', (value, text) => expect(showValue(value)).toBe(text))

test('names become words', () => {
  expect(wordsOf('label_constraint')).toBe('label constraint')
  expect(wordsOf('blockedCountries')).toBe('blocked countries')
})

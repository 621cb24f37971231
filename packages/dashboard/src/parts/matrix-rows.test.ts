import { FILTERS } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { allFilters, type MatrixRow, refusingFilters } from './matrix-rows.ts'

const row = (name: string, ...filters: string[]): MatrixRow => ({
  id: name,
  name,
  reasons: filters.map((filter) => ({ filter, code: 'x', required: null, reported: null })),
})

test('only filters that refuse a node are columns, in the order of the server', () => {
  expect(refusingFilters([row('a', 'resources', 'cordon'), row('b', 'cordon'), row('c')])).toEqual([
    'cordon',
    'resources',
  ])
})

test('a filter of a newer server is the last column', () => {
  expect(refusingFilters([row('a', 'moon_phase', 'quota')])).toEqual(['quota', 'moon_phase'])
  expect(allFilters([row('a', 'moon_phase')])).toEqual([...FILTERS, 'moon_phase'])
})

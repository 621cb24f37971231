import { expect, test } from 'vitest'
import { isListed, rankOf, type Sortable, sortKey } from './short-list.ts'

const WORST = ['Degraded', 'Pending']
const item = (name: string, phase: string, changedAt = ''): Sortable => ({
  name,
  phase,
  rank: rankOf(phase, WORST),
  changedAt,
})
const ALL = [
  item('web', 'Running', '2026-01-03T00:00:00Z'),
  item('api', 'Running', '2026-01-01T00:00:00Z'),
  item('report', 'Pending', '2026-01-02T00:00:00Z'),
  item('orders', 'Degraded', '2026-01-04T00:00:00Z'),
]

const sorted = (sort?: string) =>
  ALL.toSorted((left, right) =>
    sortKey(left, { limit: 9, sort }) < sortKey(right, { limit: 9, sort }) ? -1 : 1,
  )
    .map(({ name }) => name)
    .join(' ')

test('sorts by name, with the worst first, or with the newest first', () => {
  expect(sorted()).toBe('api orders report web')
  expect(sorted('worst')).toBe('orders report api web')
  expect(sorted('newest')).toBe('orders web report api')
})

test('filters by a part of the name, in any case, and by phase', () => {
  const listed = (query: object) =>
    ALL.filter((each) => isListed(each, { limit: 9, ...query })).map(({ name }) => name)
  expect(listed({ q: 'OR' })).toEqual(['report', 'orders'])
  expect(listed({ phase: 'Running' })).toEqual(['web', 'api'])
  expect(listed({ q: 'e', phase: 'Running' })).toEqual(['web'])
  expect(listed({})).toHaveLength(4)
})

import { expect, test } from 'vitest'
import { fullestFirst } from './fullest-first.ts'

const quota = (kind: string, used: number, limit: number) => ({ kind, used, limit })

test('lists the fullest quota first and leaves out those without use', () => {
  const listed = fullestFirst([quota('nodes', 1, 10), quota('secrets', 0, 5), quota('jobs', 9, 10)])
  expect(listed.map(({ kind }) => kind)).toEqual(['jobs', 'nodes'])
})

test('a quota of nothing that is used is full', () => {
  expect(fullestFirst([quota('nodes', 9, 10), quota('volumes', 1, 0)])[0]?.kind).toBe('volumes')
})

import type { Json } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { changedFields } from './changed-fields.ts'

const changes = (before: Json, after: Json): string[] =>
  changedFields(before, after).map(
    ({ field, from, to }) => `${field}: ${JSON.stringify(from)} -> ${JSON.stringify(to)}`,
  )

test('a change is named at its own path', () => {
  expect(
    changes(
      { replicas: 3, environment: { A: '1', B: '2' }, image: 'x' },
      { replicas: 4, environment: { A: '1', C: '3' }, image: 'x' },
    ),
  ).toEqual(['replicas: 3 -> 4', 'environment.B: "2" -> undefined', 'environment.C: undefined -> "3"'])
})

test('a part that appears is one change', () => {
  expect(changes({}, { limits: { cpuMillis: 500 } })).toEqual(['limits: undefined -> {"cpuMillis":500}'])
})

test('items with a name are compared by it, wherever they are', () => {
  const [a, b] = [
    { volume: 'data', target: '/data' },
    { volume: 'logs', target: '/logs' },
  ]
  expect(changes({ volumes: [a, b] }, { volumes: [b, a] })).toEqual([])
  expect(changes({ volumes: [a, b] }, { volumes: [a, { ...b, target: '/l' }] })).toEqual([
    'volumes.logs.target: "/logs" -> "/l"',
  ])
})

test('lists of words are one value', () => {
  expect(changes({ args: ['a', 'b'] }, { args: ['b', 'a'] })).toEqual(['args: ["a","b"] -> ["b","a"]'])
})

test('the order of members is no change', () => expect(changes({ a: 1, b: 2 }, { b: 2, a: 1 })).toEqual([]))

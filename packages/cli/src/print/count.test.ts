import { expect, test } from 'vitest'
import { count } from './count.ts'

test.each([
  [0, 'replica', undefined, '0 replicas'],
  [1, 'replica', undefined, '1 replica'],
  [2, 'replica', undefined, '2 replicas'],
  [1, 'line was', 'lines were', '1 line was'],
  [3, 'line was', 'lines were', '3 lines were'],
])('writes %i of "%s" in the right number', (amount, one, many, expected) => {
  expect(count(amount, one, many)).toBe(expected)
})

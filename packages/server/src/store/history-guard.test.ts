import { expect, test } from 'vitest'
import { createHistoryGuard } from './history-guard.ts'

test('answers that are not older than what was seen before are history', () => {
  const guard = createHistoryGuard(() => {
    throw new Error('told')
  })
  for (const [seen, found] of [
    [0, 0],
    [7, 7],
    [7, 9],
  ] as const)
    guard.note(seen, found)
  expect(() => guard.require()).not.toThrow()
})

test('one that is older ends it for good, and is told once', () => {
  const told: number[][] = []
  const guard = createHistoryGuard((seen, found) => told.push([seen, found]))
  guard.note(9, 4)
  guard.note(9, 5)
  // It has caught up in number, and is another history all the same.
  guard.note(9, 12)
  expect(() => guard.require()).toThrow('etcd went back from revision 9 to 4')
  expect(told).toEqual([[9, 4]])
})

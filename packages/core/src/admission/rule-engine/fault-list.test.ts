import { expect, test } from 'vitest'
import { addFault, newFaultList } from './fault-list.ts'

/** The reasons of a list with the given maximum, after `count` faults. */
function reasons(most: number, count: number): string[] {
  const faults = newFaultList(most)
  for (let at = 0; at < count; at += 1)
    addFault(faults, 'field_unknown', [`f${at}`], 1, { params: { accepted: 'image' } })
  return faults.rejections.map(({ why }) => why)
}

test('the last rejection of a full list says that there may be more', () => {
  const [usual, , last, ...rest] = reasons(3, 5)
  expect(rest).toEqual([])
  expect(last).toBe(`${usual} Only the first 3 faults are listed; there may be more once they are corrected.`)
  expect(reasons(1, 2)).toEqual([
    `${usual} Only the first fault is listed; there may be more once they are corrected.`,
  ])
})

test('a list with room says nothing of the kind', () => {
  const [first, second] = reasons(3, 2)
  expect(second).toBe(first)
})

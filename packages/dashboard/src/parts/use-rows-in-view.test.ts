import { expect, test } from 'vitest'
import { rowsInView } from './use-rows-in-view.ts'

const [HEIGHT, VIEW] = [40, 800]

test('a list at the top of the view begins with its first row', () =>
  expect(rowsInView(-180, VIEW, HEIGHT)).toEqual({ first: 0, count: 20 }))

test('every row in view is in the document, at every position', () => {
  for (let top = -VIEW; top < 10_000; top += 7) {
    const { first, count } = rowsInView(top, VIEW, HEIGHT)
    expect(first * HEIGHT).toBeLessThanOrEqual(Math.max(0, top))
    expect((first + count) * HEIGHT).toBeGreaterThanOrEqual(top + VIEW)
    expect(count).toBeLessThanOrEqual(VIEW / HEIGHT + 16)
  }
})

test('rows change in groups, so that a slow scroll renders seldom', () => {
  const seen = new Set<number>()
  for (let top = 4_000; top < 4_000 + HEIGHT * 8; top += 1) seen.add(rowsInView(top, VIEW, HEIGHT).first)
  expect(seen.size).toBeLessThanOrEqual(3)
})

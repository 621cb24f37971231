import { expect, test } from 'vitest'
import { warnOfDependents } from './check-dependencies.ts'

test('a deletion that leaves no dependents has no warning', () => {
  expect(warnOfDependents('db', [])).toEqual([])
})

test('a deletion names the dependents, at most 20 of them, and says what happens to them', () => {
  const [one] = warnOfDependents('db', ['web'])
  expect(one).toMatchObject({ code: 'dependents_left', field: 'name' })
  expect(one?.why).toMatch(/^web depends on db\. .*waits until db exists again/)
  const names = Array.from({ length: 23 }, (_, index) => `web-${index}`)
  const [many] = warnOfDependents('db', names)
  expect(many?.why).toContain('web-19 and 3 more depend on db.')
  expect(many?.why).not.toContain('web-20')
})

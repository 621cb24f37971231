import { expect, test } from 'vitest'
import { changedProcess, everyMixture, nameOf, rollingMixtures } from './mixtures.ts'

test.each([1, 3, 5])(
  'the mixtures of %i processes are all visited once, one process at a time',
  (processes) => {
    const path = everyMixture(processes)
    expect(new Set(path.map(nameOf)).size).toBe(2 ** processes)
    for (const [at, mixture] of path.slice(1).entries()) changedProcess(path[at] ?? [], mixture)
    expect(nameOf(path[0] ?? [])).toBe('o'.repeat(processes))
    expect(nameOf(path.at(-1) ?? [])).toBe('n'.repeat(processes))
  },
)

test('a rolling update changes the processes in the given order', () => {
  expect(rollingMixtures([1, 0, 2]).map(nameOf)).toEqual(['ooo', 'ono', 'nno', 'nnn'])
})

test('a rolling update of some processes leaves the others on the old build', () => {
  expect(rollingMixtures([2, 0], 3).map(nameOf)).toEqual(['ooo', 'oon', 'non'])
})

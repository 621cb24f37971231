// How scripts/ci/try-affected.ts breaks lines: what it changes, what it leaves alone, and that a seed always draws the same.

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { AREAS, drawMutants, mutate } from '../../scripts/ci/mutants/draw-mutants.ts'
import { mutationsOf } from '../../scripts/ci/mutants/mutate-line.ts'
import { readRepository } from '../../scripts/ci/read-change.ts'

const ROOT = join(import.meta.dirname, '../..')
const linesOf = (path: string, line: string): string[] => mutationsOf(path, line).map((each) => each.line)

test.each([
  ['a.ts', '  if (isFull) return', ['  if (!(isFull)) return']],
  ['a.ts', 'const ok = a === b', ['const ok = a !== b']],
  ['a.ts', 'const most = 3', ['const most = 7']],
  ['a.ts', `  kind: 'job',`, [`  kind: 'job altered',`]],
  ['a.ts', '  await store.close()', ['']],
  ['a.service', 'Restart=always', ['Restart=alwaysx', 'RestartX=always', '']],
  ['build', '  mkdir -p dist', ['  mkdir-altered -p dist', '']],
])('in %s, the line %j becomes %j', (path, line, expected) =>
  expect(linesOf(path, line)).toEqual(expect.arrayContaining(expected)),
)

test.each([
  ['a.ts', '// Never 3 of them.'],
  ['a.ts', `import { a } from './a.ts'`],
  ['a.ts', `  log.warn({ name }, 'store unavailable')`],
  ['a.ts', '  readonly kind: 5'],
  ['a.ts', 'const DEADLINE_MS = 5_000'],
  ['a.service', '# Restart=always'],
])('in %s, the line %j has no behavior to break', (path, line) => expect(linesOf(path, line)).toEqual([]))

test('a mutation changes its line alone', () =>
  expect(mutate('one\ntwo\nthree', { at: 2, line: 'other' })).toBe('one\nother\nthree'))

test('a seed draws the same lines again, and another seed draws others', () => {
  const { files } = readRepository(ROOT)
  const [core] = AREAS
  const draw = (seed: number): string[] => {
    const drawn: string[] = []
    for (const { path, at, line } of core === undefined ? [] : drawMutants(ROOT, files, core, seed)) {
      drawn.push(`${path}:${at} ${line}`)
      if (drawn.length === 3) break
    }
    return drawn
  }
  expect(draw(1)).toHaveLength(3)
  expect(draw(1)).toEqual(draw(1))
  expect(draw(2)).not.toEqual(draw(1))
})

// A run of CI tries the seeded bugs in changed code, and all others in turn.

import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeTempFolder } from '@holdfast/testkit'
import { ROTATIONS } from '@holdfast/testkit/rotation'
import { afterAll, describe, expect, test } from 'vitest'
import { changedSince } from '../../scripts/ci/changed-code.ts'
import { BUGS } from '../../scripts/seeded-bugs/bugs.ts'
import { chooseBugs } from '../../scripts/seeded-bugs/choose-bugs.ts'
import { readKnownSeeds } from '../../scripts/seeded-bugs/known-seeds.ts'
import { TESTED_BUGS } from '../../scripts/seeded-bugs/tested/tested-bugs.ts'

const ROOT = join(import.meta.dirname, '../..')
const SLICES = ROTATIONS['seeded-bugs']
const never = () => false

test.each([
  ['of the simulation', BUGS],
  ['of unit tests', TESTED_BUGS],
])('runs of CI try every seeded bug %s in turn', (_, bugs) => {
  const slices = Array.from({ length: SLICES }, (_slice, slice) => {
    const { bugs: chosen } = chooseBugs<{ name: string; edits: (typeof bugs)[number]['edits'] }>(
      bugs,
      never,
      (item) => item % SLICES === slice,
    )
    return chosen.map(({ name }) => name)
  })
  expect(slices.flat().toSorted()).toEqual(bugs.map(({ name }) => name).toSorted())
  expect(Math.max(...slices.map(({ length }) => length))).toBe(Math.ceil(bugs.length / SLICES))
})

test('a run of CI tries every seeded bug of a changed file', () => {
  const [bug] = BUGS
  const file = bug?.edits[0]?.file
  const { bugs, changed } = chooseBugs(BUGS, (path) => path === file, never)
  expect(bugs).toEqual(BUGS.filter(({ edits }) => edits.some((edit) => edit.file === file)))
  expect(changed).toBe(bugs.length)
})

test('a seed is known only of seeded bugs that exist', () => {
  const names = BUGS.map(({ name }) => name)
  expect(Object.keys(readKnownSeeds(ROOT)).filter((name) => !names.includes(name))).toEqual([])
})

describe('the code of a file', () => {
  const folder = makeTempFolder('changed-code')
  afterAll(() => folder.remove())
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
      cwd: folder.path,
      encoding: 'utf8',
    })
  const write = (text: string) => writeFileSync(join(folder.path, 'src/a.ts'), text)
  mkdirSync(join(folder.path, 'src'))
  git('init', '--quiet')
  write('// Adds one.\nexport const next = (a: number) => a + 1\n')
  git('add', '.')
  git('commit', '--quiet', '--message', 'first')
  const first = git('rev-parse', 'HEAD').trim()

  test.each([
    ['the same', '// Adds one.\nexport const next = (a: number) => a + 1\n', false],
    ['another comment', '/** Adds 1. */\nexport const next = (a: number) => a + 1\n', false],
    ['another type', 'export const next = (a: 1 | 2): number => a + 1', false],
    ['other formatting', 'export const next = (a: number) =>\n  a + 1', false],
    ['another guard', '// Adds one.\nexport const next = (a: number) => a + 2\n', true],
  ])('with %s has changed: %j %s', (_, text, isChanged) => {
    write(text)
    expect(changedSince(folder.path, first)('src/a.ts')).toBe(isChanged)
  })

  test('has changed if the file is new or gone, or the commit is not known', () => {
    write('// Adds one.\nexport const next = (a: number) => a + 1\n')
    writeFileSync(join(folder.path, 'src/b.ts'), '')
    expect(changedSince(folder.path, first)('src/b.ts')).toBe(true)
    expect(changedSince(folder.path, first)('src/gone.ts')).toBe(true)
    expect(changedSince(folder.path, '')('src/a.ts')).toBe(true)
    expect(changedSince(folder.path, 'f'.repeat(40))('src/a.ts')).toBe(true)
  })
})

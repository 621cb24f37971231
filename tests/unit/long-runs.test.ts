// docs/long-runs.md shows the last run of each part of the long run, and every file of tests belongs to one part.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PARTS } from '../../scripts/long-runs/parts.ts'
import { oldParts, parseRows, type Row, readRows, renderPage } from '../../scripts/long-runs/rows.ts'
import { stepsOf } from '../../scripts/long-runs/steps.ts'

const ROOT = join(import.meta.dirname, '../..')
const NAMES = PARTS.map(({ name }) => name)

test('docs/long-runs.md is generated from docs/long-runs.tsv; `npm run long -- page` writes it', () => {
  expect(readFileSync(join(ROOT, 'docs/long-runs.md'), 'utf8')).toBe(renderPage(readRows(ROOT)))
})

test('the page has one row for each part, and says which never ran', () => {
  const page = renderPage([])
  for (const name of NAMES) expect(page.split(`| ${name} |`), name).toHaveLength(2)
  expect(page.split('never run')).toHaveLength(NAMES.length + 1)
  expect(new Set(NAMES).size).toBe(NAMES.length)
})

test('every kept row belongs to a part', () => {
  expect(readRows(ROOT).filter(({ part }) => !NAMES.includes(part))).toEqual([])
})

/** Unit tests run as one step. Only the configuration of vitest tells the seeds of the simulation from its unit tests. */
const SEEDS =
  /'(packages\/simulation\/src\/.*)'/.exec(readFileSync(join(ROOT, 'vitest.config.ts'), 'utf8'))?.[1] ?? ''
const SUITES = [
  'packages/*/src/**/*.real.test.ts',
  'tests/{real,controllers}/**/*.test.ts',
  'e2e/**/*.test.ts',
  SEEDS,
]

test('every file of tests with engines, labs or seeds is a step of exactly one part', () => {
  const files = globSync(SUITES, { cwd: ROOT, exclude: ['**/node_modules/**'] })
  expect(files.length).toBeGreaterThan(100)
  expect(files.filter((file) => file.startsWith('packages/simulation/')).length).toBeGreaterThan(5)
  const steps = PARTS.flatMap((part) => stepsOf(part).flatMap(({ file }) => file ?? []))
  expect(steps.toSorted()).toEqual(files.toSorted())
})

test('no part is without steps of its own', () => {
  const isEmpty = PARTS.filter((part) => stepsOf({ ...part, isInstalled: undefined }).length === 0)
  expect(isEmpty.map(({ name }) => name)).toEqual([])
})

test('every benchmark is a step of a part', () => {
  const commands = PARTS.flatMap((part) => stepsOf(part).map(({ command }) => command.join(' '))).join('\n')
  // Files that a benchmark loads or starts, and the one that starts all in a tiny size.
  const loaded = ['loop-delay', 'session-server', 'tiny', 'why-reads']
  for (const file of globSync('bench/*.ts', { cwd: ROOT }))
    if (!loaded.some((name) => file === `bench/${name}.ts`)) expect(commands).toContain(file)
})

test('a part is old two weeks after its last run', () => {
  const [first = ''] = NAMES
  const row: Row = {
    ...{ part: first, commit: '01234567', date: '2026-01-01', minutes: 1, cpuMinutes: 1 },
    ...{ passed: 1, failed: 0, figures: '', verdict: 'passed' },
  }
  const day = (date: string): number => Date.parse(`2026-01-${date}`)
  expect(oldParts([row], day('15'))).toHaveLength(NAMES.length - 1)
  expect(oldParts([row], day('16'))).toContain(`${first}: last run on 2026-01-01, passed`)
  expect(oldParts([], day('01'))).toEqual(NAMES.map((name) => `${name}: never run`))
})

test('a row is read as it was written', () => {
  const tsv = 'unit\t01234567\t2026-01-01\t3\t5\t700\t1\t700 tests passed\tfailed: unit tests\n'
  expect(parseRows(tsv)).toEqual([
    {
      ...{ part: 'unit', commit: '01234567', date: '2026-01-01', minutes: 3, cpuMinutes: 5 },
      ...{ passed: 700, failed: 1, figures: '700 tests passed', verdict: 'failed: unit tests' },
    },
  ])
})

// CI runs a few seeds of a suite of the simulation instead of a slice only if every slice ran green on exactly its code.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { hashBundles } from '../../scripts/ci/hash-bundle.ts'
import { NO_REPORT, type Report } from '../../scripts/ci/reports.ts'
import { coveredSuites, greenFiles, recordRun } from '../../scripts/ci/simulation-record.ts'
import { SUITES, suiteName } from '../../scripts/ci/simulation-suites.ts'
import { replacing } from '../../scripts/seeded-bugs/bundle-worker.ts'

const ROOT = join(import.meta.dirname, '../..')

describe('the hash of the code of a program', () => {
  const WORKER = 'packages/simulation/src/promotion/search-worker.ts'
  const hashAfter = (file: string, edit: (text: string) => string) => {
    const path = join(ROOT, file)
    return hashBundles(ROOT, [WORKER], [replacing(new Map([[path, edit(readFileSync(path, 'utf8'))]]))])
  }
  const unchanged = hashBundles(ROOT, [WORKER])
  const COPY = 'packages/core/src/promotion/copy.ts'

  test('is the same for the same code', async () =>
    expect(await hashAfter(COPY, (text) => text)).toBe(await unchanged))

  test('changes with a guard of a file that the program imports', async () =>
    expect(
      await hashAfter(COPY, (text) => text.replace('renew.cv <= durable.cv', 'renew.cv < durable.cv')),
    ).not.toBe(await unchanged))

  test.each([
    ['a comment', (text: string) => `// Another comment.\n${text}\n/** And one more. */\n`],
    ['formatting', (text: string) => text.replaceAll('\n', '\n\n')],
    ['a type', (text: string) => `${text}\nexport interface Unused { readonly a: 1 }\n`],
  ])('does not change with %s', async (_, edit) => expect(await hashAfter(COPY, edit)).toBe(await unchanged))

  test('does not change with a file that the program does not import', async () =>
    expect(await hashAfter('packages/server/src/api/routes/jobs.ts', (text) => `${text}\nthrow 1`)).toBe(
      await unchanged,
    ))
})

test.each(SUITES.map((suite) => [suiteName(suite), suite.test]))(
  'the suite %s of the simulation asks for the seeds of its own name',
  (name, file) => expect(readFileSync(join(ROOT, file), 'utf8')).toContain(`seedsInTurn('${name}')`),
)

describe('the record of simulations', () => {
  const run = (inputs: string, slice: number, green = true) => ({
    inputs: new Map([['seeds', inputs]]),
    green: new Set(green ? ['seeds'] : []),
    slicesOf: () => [slice],
  })

  test('covers a suite once every slice was green on the same code', () => {
    const four = [3, 0, 2, 4].reduce((record, slice) => recordRun(record, run('a', slice)), {})
    expect(coveredSuites(four, new Map([['seeds', 'a']]), 5)).toEqual([])
    const five = recordRun(four, run('a', 1))
    expect(five).toEqual({ seeds: { inputs: 'a', slices: [0, 1, 2, 3, 4] } })
    expect(coveredSuites(five, new Map([['seeds', 'a']]), 5)).toEqual(['seeds'])
    expect(coveredSuites(five, new Map([['seeds', 'b']]), 5)).toEqual([])
  })

  test('forgets the slices of other code', () => {
    const before = { seeds: { inputs: 'a', slices: [0, 1, 2, 3] } }
    expect(recordRun(before, run('b', 4))).toEqual({ seeds: { inputs: 'b', slices: [4] } })
  })

  test('has no slice that failed', () => {
    const before = { seeds: { inputs: 'a', slices: [0, 1] } }
    expect(recordRun(before, run('a', 2, false))).toEqual(before)
    expect(recordRun({}, run('a', 2, false))).toEqual({})
  })

  test('counts a slice once', () => {
    const twice = recordRun(recordRun({}, run('a', 2)), run('a', 2))
    expect(twice).toEqual({ seeds: { inputs: 'a', slices: [2] } })
  })

  test('a test file is green if all its tests ran and passed', () => {
    const file = (name: string, status: string, ...tests: string[]): Report['testResults'][number] => ({
      ...{ name, status, message: '', startTime: 0, endTime: 1 },
      assertionResults: tests.map((each) => ({
        ...{ status: each, title: each, fullName: each },
        ...{ ancestorTitles: [], failureMessages: [] },
      })),
    })
    const report: Report = {
      ...NO_REPORT,
      testResults: [
        file('green', 'passed', 'passed', 'passed'),
        file('red', 'failed', 'passed', 'failed'),
        file('skipped', 'passed', 'passed', 'skipped'),
        file('empty', 'passed'),
        file('broken', 'failed', 'passed'),
      ],
    }
    expect([...greenFiles(report)]).toEqual(['green'])
  })
})

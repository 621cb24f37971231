import { expect, test } from 'vitest'
import {
  type Assertion,
  countAfterRepeat,
  countTests,
  describeFailures,
  failedFiles,
  firstFailures,
  NO_REPORT,
  type Report,
} from '../../scripts/ci/reports.ts'

type Status = 'passed' | 'failed'

const assertion = (status: Status, index: number): Assertion => ({
  status,
  ancestorTitles: [],
  title: `test ${index}`,
  fullName: `test ${index}`,
  failureMessages: status === 'failed' ? ['expected 1 to be 2'] : [],
})

/** A report of test files, each given as the results of its tests; an empty file could not be loaded. */
function report(files: { readonly [name: string]: readonly Status[] }): Report {
  const all = Object.values(files).flat()
  return {
    ...NO_REPORT,
    numPassedTests: all.filter((status) => status === 'passed').length,
    numFailedTests: all.filter((status) => status === 'failed').length,
    testResults: Object.entries(files).map(([name, results]) => ({
      name,
      status: results.length === 0 || results.includes('failed') ? 'failed' : 'passed',
      message: 'cannot be loaded',
      startTime: 0,
      endTime: 1,
      assertionResults: results.map(assertion),
    })),
  }
}

const FIRST = report({ a: ['passed', 'passed'], b: ['passed', 'failed', 'failed'], c: [] })

test('a file that could not be loaded is counted as one failed test', () => {
  expect(countTests(FIRST)).toEqual({ passed: 3, failed: 3, skipped: 0 })
  expect(failedFiles(FIRST).map(({ name }) => name)).toEqual(['b', 'c'])
})

test('a test that passes when its file runs a second time is counted as passed', () => {
  const second = report({ b: ['passed', 'passed', 'failed'], c: ['passed'] })
  expect(countAfterRepeat(FIRST, second)).toEqual({ passed: 5, failed: 1, skipped: 0 })
})

test('a test that fails only in the second run is counted as failed', () => {
  const second = report({ b: ['failed', 'passed', 'passed'], c: ['passed'] })
  expect(countAfterRepeat(FIRST, second).failed).toBe(1)
})

test('every failure is described with its file, its name and its reason', () => {
  const text = describeFailures(FIRST)
  expect(text).toContain('  b\n    test 1\n      expected 1 to be 2\n')
  expect(text).toContain('  c\n      cannot be loaded\n')
})

test('the memory of CI has the first line of each failure', () => {
  expect(firstFailures(FIRST, (file) => `e2e/${file}`)).toEqual([
    { file: 'e2e/b', test: 'test 1', line: 'expected 1 to be 2' },
    { file: 'e2e/b', test: 'test 2', line: 'expected 1 to be 2' },
    { file: 'e2e/c', test: 'the file', line: 'cannot be loaded' },
  ])
})

import { expect, test } from 'vitest'
import {
  afterExecution,
  type Executed,
  type Flake,
  printFlakes,
  readFlakes,
  unstableFiles,
} from '../../scripts/ci/flakes.ts'

const FILE = 'e2e/a.test.ts'
const OTHER = 'e2e/b.test.ts'
const failureIn = (file: string, test = 'serves') => ({ file, test, line: 'Error: expected 1 to be 2' })
const ran = (run: number, failed: readonly string[] = [], files = [FILE, OTHER]): Executed => ({
  run,
  files: new Set(files),
  failures: failed.map((file) => failureIn(file)),
})
const after = (...runs: readonly Executed[]): Flake[] =>
  runs.reduce<Flake[]>((rows, run) => afterExecution(rows, run, () => true), [])

/** Runs in which every test passes. */
const goodRuns = (first: number, count: number, files?: string[]): Executed[] =>
  Array.from({ length: count }, (_, index) => ran(first + index, [], files))

test('a file that fails at the first try for the first time is remembered, and fails no CI run', () => {
  expect(unstableFiles(after(ran(1, [FILE])))).toEqual([])
  expect(after(ran(1, [FILE]))).toMatchObject([{ run: 1, file: FILE, executedSince: 0 }])
})

test('a file that fails twice in ten executions is unstable', () => {
  expect(unstableFiles(after(ran(1, [FILE]), ...goodRuns(2, 8), ran(10, [FILE])))).toEqual([FILE])
})

test('a failure is forgotten after ten further executions of its file', () => {
  expect(unstableFiles(after(ran(1, [FILE]), ...goodRuns(2, 9), ran(11, [FILE])))).toEqual([])
  expect(after(ran(1, [FILE]), ...goodRuns(2, 10))).toEqual([])
})

test('runs that did not execute a file do not make its failure older', () => {
  expect(unstableFiles(after(ran(1, [FILE]), ...goodRuns(2, 30, [OTHER]), ran(32, [FILE])))).toEqual([FILE])
})

test('two failed tests in one run are one failure of their file', () => {
  const twice = { ...ran(1), failures: [failureIn(FILE, 'serves'), failureIn(FILE, 'stops')] }
  expect(unstableFiles(after(twice))).toEqual([])
})

test('two unstable files do not count for each other', () => {
  expect(unstableFiles(after(ran(1, [FILE]), ran(2, [OTHER])))).toEqual([])
})

test('the failures of a removed file are forgotten', () => {
  expect(afterExecution(after(ran(1, [FILE])), ran(2), () => false)).toEqual([])
})

test('a run that is repeated with the same number replaces its own failures', () => {
  expect(after(ran(1, [FILE]), ran(1))).toEqual([])
})

test('the kept failures are read as they were written, in one line each', () => {
  const rows = after({ ...ran(3), failures: [{ file: FILE, test: 'a\ttest', line: 'first\nsecond' }] })
  expect(readFlakes(printFlakes(rows))).toEqual([
    { run: 3, executedSince: 0, file: FILE, test: 'a test', line: 'first second' },
  ])
})

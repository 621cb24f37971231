// Which test files are unstable? A file whose tests failed at the first try in two of its last ten executions fails the CI
// run, until its rows are deleted by the change that mends it. docs/design/ci.md#what-ci-remembers

import type { FirstFailure } from './kept-ledgers.ts'

/** Where the rows are kept. */
export const FLAKES = '.ci/flakes.tsv'

/** One test that failed at its first try. */
export interface Flake extends FirstFailure {
  /** Number of the CI run. */
  readonly run: number
  /** How often the file was executed since. */
  readonly executedSince: number
}

/** The number of executions of a file that are remembered. */
const EXECUTIONS = 10
const MOST_FAILURES = 1

const HEADER = 'run\texecuted since\tfile\ttest\tfirst line of the failure'

export interface Executed {
  readonly run: number
  /** Test files that the run executed. */
  readonly files: ReadonlySet<string>
  readonly failures: readonly FirstFailure[]
}

/** The rows after a run. Rows older than ten executions of their file are dropped, and rows of files that `exists` denies. */
export function afterExecution(
  before: readonly Flake[],
  { run, files, failures }: Executed,
  exists: (file: string) => boolean,
): Flake[] {
  const aged = before
    .filter((row) => row.run !== run)
    .map((row) => (files.has(row.file) ? { ...row, executedSince: row.executedSince + 1 } : row))
  const added = failures.map((failure) => ({ run, executedSince: 0, ...failure }))
  return [...aged, ...added].filter((row) => row.executedSince < EXECUTIONS && exists(row.file))
}

/** The files that failed in more than one of their last ten executions. */
export function unstableFiles(rows: readonly Flake[]): string[] {
  const runs = Map.groupBy(rows, ({ file }) => file)
  return [...runs]
    .filter(([, failed]) => new Set(failed.map(({ run }) => run)).size > MOST_FAILURES)
    .map(([file]) => file)
}

export function readFlakes(tsv: string): Flake[] {
  return tsv
    .split('\n')
    .slice(1)
    .filter((line) => line !== '')
    .map((line) => {
      const [run, executedSince, file = '', test = '', first = ''] = line.split('\t')
      return { run: Number(run), executedSince: Number(executedSince), file, test, line: first }
    })
}

export function printFlakes(rows: readonly Flake[]): string {
  const lines = rows.map((row) =>
    [row.run, row.executedSince, row.file, row.test, row.line].map(oneCell).join('\t'),
  )
  return `${[HEADER, ...lines].join('\n')}\n`
}

/** A cell of at most 200 characters without tabs and line breaks. */
const oneCell = (value: string | number): string => String(value).replace(/\s+/g, ' ').trim().slice(0, 200)

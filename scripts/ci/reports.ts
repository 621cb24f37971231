// Which tests of a vitest report passed, failed or were skipped, also after some of its files ran a second time?

import { stripVTControlCharacters } from 'node:util'

export interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
  readonly testResults: readonly TestFile[]
}

export interface TestFile {
  readonly name: string
  readonly status: string
  readonly message: string
  /** Milliseconds since 1970. */
  readonly startTime: number
  readonly endTime: number
  readonly assertionResults: readonly Assertion[]
}

export interface Assertion {
  readonly status: string
  /** Titles of the suites around the test, the outermost first. */
  readonly ancestorTitles: readonly string[]
  readonly title: string
  readonly fullName: string
  readonly failureMessages: readonly string[]
}

export interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/** An empty report, used for a run that was aborted and wrote none. */
export const NO_REPORT: Report = {
  numPassedTests: 0,
  numFailedTests: 0,
  numPendingTests: 0,
  numTodoTests: 0,
  testResults: [],
}

/** Lines of a failure's message to print: enough for expected and received values and the failing line of the test. */
const SHOWN_LINES = 16
const OF_THE_RUNNER = /node_modules\/vitest|<anonymous>/

const failedIn = (file: TestFile) => file.assertionResults.filter(({ status }) => status === 'failed')
// A test file that fails without a failed test could not be loaded, or a hook failed. It is counted as one failed test.
const isBroken = (file: TestFile) => file.status === 'failed' && failedIn(file).length === 0

export const failedFiles = ({ testResults }: Report): TestFile[] =>
  testResults.filter((file) => file.status === 'failed')

export const countTests = (report: Report): Counts => ({
  passed: report.numPassedTests,
  failed: report.numFailedTests + report.testResults.filter(isBroken).length,
  skipped: report.numPendingTests + report.numTodoTests,
})

/** The counts of a run whose failed files ran a second time: only a test that failed both times is counted as failed. */
export function countAfterRepeat(first: Report, second: Report): Counts {
  const [before, after] = [countTests(first), countTests(second)]
  const repeated = passedIn(failedFiles(first))
  return {
    passed: before.passed - repeated + after.passed,
    failed: after.failed,
    skipped: before.skipped,
  }
}

const passedIn = (files: readonly TestFile[]): number =>
  files.flatMap(({ assertionResults }) => assertionResults).filter(({ status }) => status === 'passed').length

/** Each failure of a report with the first line of its reason, for the memory of CI. */
export const firstFailures = (
  { testResults }: Report,
  pathOf: (file: string) => string,
): { file: string; test: string; line: string }[] =>
  testResults.flatMap((file) => {
    const failed = failedIn(file).map(({ fullName, failureMessages }) => ({
      test: fullName,
      line: firstLine(failureMessages.join('\n')),
    }))
    const broken = isBroken(file) ? [{ test: 'the file', line: firstLine(file.message) }] : []
    return [...failed, ...broken].map((failure) => ({ file: pathOf(file.name), ...failure }))
  })

const firstLine = (text: string): string => stripVTControlCharacters(text).split('\n', 1)[0] ?? ''

/** Each failure of a report with the first lines of its reason. */
export function describeFailures({ testResults }: Report): string {
  const failures = testResults.flatMap((file) =>
    failedIn(file).map(
      (test) => `  ${file.name}\n    ${test.fullName}\n${head(test.failureMessages.join('\n'))}`,
    ),
  )
  const broken = testResults.filter(isBroken).map(({ name, message }) => `  ${name}\n${head(message)}`)
  return [...failures, ...broken].join('')
}

const head = (text: string) =>
  stripVTControlCharacters(text)
    .split('\n')
    .filter((line) => !OF_THE_RUNNER.test(line))
    .slice(0, SHOWN_LINES)
    .map((line) => `      ${line}\n`)
    .join('')

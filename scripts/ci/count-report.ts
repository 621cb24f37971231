// Reads vitest's report of a run, prints "passed failed skipped", and appends each failure with its reason to a file that
// CI prints at the end of its log. Usage: count-report.ts REPORT FAILURES

import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { argv } from 'node:process'
import { stripVTControlCharacters } from 'node:util'

interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
  readonly testResults: readonly TestFile[]
}

interface TestFile {
  readonly name: string
  readonly status: string
  readonly message: string
  readonly assertionResults: readonly Assertion[]
}

interface Assertion {
  readonly status: string
  readonly fullName: string
  readonly failureMessages: readonly string[]
}

/** An empty report, used for a run that was aborted and wrote none. */
const NOTHING: Report = {
  numPassedTests: 0,
  numFailedTests: 0,
  numPendingTests: 0,
  numTodoTests: 0,
  testResults: [],
}

/** Lines of a failure's message to print: enough for expected and received values and the failing line of the test. */
const SHOWN_LINES = 16
const OF_THE_RUNNER = /node_modules\/vitest|<anonymous>/

const [reportPath = '', failuresPath = ''] = argv.slice(2)
const report: Report = existsSync(reportPath) ? JSON.parse(readFileSync(reportPath, 'utf8')) : NOTHING

const failedIn = (file: TestFile) => file.assertionResults.filter(({ status }) => status === 'failed')
// A test file that fails without a failed test could not be loaded, or a hook failed. It is counted as one failed test.
const broken = report.testResults.filter((file) => file.status === 'failed' && failedIn(file).length === 0)

const head = (text: string) =>
  stripVTControlCharacters(text)
    .split('\n')
    .filter((line) => !OF_THE_RUNNER.test(line))
    .slice(0, SHOWN_LINES)
    .map((line) => `      ${line}\n`)
    .join('')
for (const file of report.testResults)
  for (const { fullName, failureMessages } of failedIn(file))
    appendFileSync(failuresPath, `  ${file.name}\n    ${fullName}\n${head(failureMessages.join('\n'))}`)
for (const { name, message } of broken) appendFileSync(failuresPath, `  ${name}\n${head(message)}`)

const skipped = report.numPendingTests + report.numTodoTests
console.log(report.numPassedTests, report.numFailedTests + broken.length, skipped)

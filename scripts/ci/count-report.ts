// Reads vitest's report of a run, prints "passed failed skipped", and appends each failure with its reason to a file that
// CI prints at the end of its log. Usage: count-report.ts REPORT FAILURES [SECOND UNSTABLE]
//
// SECOND is the report of the run that repeated the failed files. The failures of the first run are then appended to
// UNSTABLE, and those of the second run to FAILURES.

import { appendFileSync } from 'node:fs'
import { argv } from 'node:process'
import { countAfterRepeat, countTests, describeFailures } from './reports.ts'
import { readReport } from './reports-of-steps.ts'

const [reportPath = '', failuresPath = '', secondPath = '', unstablePath = ''] = argv.slice(2)
const report = readReport(reportPath)
const second = secondPath === '' ? undefined : readReport(secondPath)

if (second !== undefined) appendFileSync(unstablePath, describeFailures(report))
appendFileSync(failuresPath, describeFailures(second ?? report))
const { passed, failed, skipped } =
  second === undefined ? countTests(report) : countAfterRepeat(report, second)
console.log(passed, failed, skipped)

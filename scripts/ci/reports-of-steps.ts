// Reads the vitest reports of a CI run: which test files ran, how long they took, and which tests failed at the first try.

import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Step } from './budgets.ts'
import type { FirstFailure } from './kept-ledgers.ts'
import { firstFailures, NO_REPORT, type Report } from './reports.ts'

const ROOT = join(import.meta.dirname, '../..')
const REPEATED = ', repeated'

export interface RanFile {
  readonly file: string
  readonly step: string
  readonly wallSeconds: number
}

/** A run that was aborted leaves no report, or an empty one. */
export function readReport(path: string): Report {
  const text = path !== '' && existsSync(path) ? readFileSync(path, 'utf8') : ''
  return text === '' ? NO_REPORT : JSON.parse(text)
}

export const filesOf = ({ name, report }: Step): RanFile[] =>
  readReport(report).testResults.map((file) => ({
    file: relative(ROOT, file.name),
    step: name,
    wallSeconds: (file.endTime - file.startTime) / 1000,
  }))

export const isFirstTry = ({ name }: Step): boolean => !name.endsWith(REPEATED)

/** The failures of a step's first try. A step without a vitest report is one test, named after the script that it runs. */
export function firstFailuresOf(step: Step): FirstFailure[] {
  if (step.report !== '') return firstFailures(readReport(step.report), (file) => relative(ROOT, file))
  if (step.verdict === 'ok' || step.script === '') return []
  return [{ file: step.script, test: step.name, line: step.verdict }]
}

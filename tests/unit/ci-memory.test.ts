import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { makeTempFolder } from '@holdfast/testkit'
import { expect, test } from 'vitest'
import { notPassed, readCitations } from '../../scripts/ci/cited-tests.ts'
import { type Ledger, readLedgers, writeLedger } from '../../scripts/ci/kept-ledgers.ts'
import { printMarked, readMarked } from '../../scripts/ci/marked.ts'
import { NO_REPORT, type Report } from '../../scripts/ci/reports.ts'

const ledgerOf = (run: number): Ledger => ({
  run,
  commit: 'a'.repeat(40),
  date: '2026-11-19',
  seconds: 1_800,
  machineCpuSeconds: 3_000,
  calibrationMs: 320,
  passed: 10,
  failed: 0,
  skipped: 1,
  slices: { 'engine-lines': [run, 0] },
  steps: [{ name: 'unit tests', wallSeconds: 10, cpuSeconds: 20, tests: 10, verdict: 'ok' }],
  slowest: [],
  firstFailures: [{ file: 'e2e/a.test.ts', test: 'serves', line: 'Error: "quoted"' }],
})

test('the ten newest ledgers of CI are kept, and read as they were written', () => {
  const folder = makeTempFolder('ledgers')
  for (let run = 1; run <= 12; run += 1) writeLedger(folder.path, ledgerOf(run))
  expect(readLedgers(folder.path)).toEqual(Array.from({ length: 10 }, (_, index) => ledgerOf(index + 3)))
  expect(readdirSync(join(folder.path, '.ci/ledgers'))).toHaveLength(10)
})

test('a ledger is taken from a log, also if the log is quoted', () => {
  const [path, text] = ['.ci/ledgers/0007.json', '{\n  "run": 7\n}\n']
  const log = `first line\n${printMarked(path, text)}\n7 passed, 0 failed\n`
  expect([...readMarked(log)]).toEqual([[path, text]])
  expect([...readMarked(log.replaceAll(/^/gm, '> '))]).toEqual([[path, text]])
})

test('a log writes no other file, and none that is cut', () => {
  expect([...readMarked(printMarked('../elsewhere.json', '{}\n'))]).toEqual([])
  expect([...readMarked(printMarked('packages/core/package.json', '{}\n'))]).toEqual([])
  expect([...readMarked('--- file .ci/flakes.tsv\nrun\n')]).toEqual([])
  expect(existsSync('../elsewhere.json')).toBe(false)
})

const reportOf = (status: string, title: string, ancestorTitles: readonly string[] = []): Report => ({
  ...NO_REPORT,
  testResults: [
    {
      name: 'e2e/a.test.ts',
      status,
      message: '',
      startTime: 0,
      endTime: 1,
      assertionResults: [{ status, ancestorTitles, title, fullName: title, failureMessages: [] }],
    },
  ],
})
const missingTitles = (document: string, report: Report): string[] =>
  notPassed(readCitations(document), [report], (file) => file).map(({ title }) => title)

test.each([
  ['serves', reportOf('passed', 'serves')],
  ['rounds', reportOf('passed', 'loses nothing', ['rounds'])],
  ['row %i is rejected with %s', reportOf('passed', 'row 3 is rejected with (name_required)')],
  [`only one of \${WRITES} creates on %s`, reportOf('passed', 'only one of 50 creates on acme-1')],
])('a promise whose test %s passed is held', (title, report) => {
  expect(missingTitles(`- A promise. \`e2e/a.test.ts::${title}\``, report)).toEqual([])
})

test.each([
  ['was skipped', reportOf('skipped', 'serves')],
  ['failed', reportOf('failed', 'serves')],
  ['has another title', reportOf('passed', 'serves well')],
])('a promise is not held by a test that %s', (_, report) => {
  expect(missingTitles('- A promise. `e2e/a.test.ts::serves`', report)).toEqual(['serves'])
})

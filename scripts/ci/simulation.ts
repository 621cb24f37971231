// Keeps the record of simulations that ran green, before and after CI runs them.
//
//   node scripts/ci/simulation.ts begin FILE          hashes the code into FILE, prints the names of the covered suites
//   node scripts/ci/simulation.ts note FILE REPORT    records the green suites of a report of vitest in .ci/simulation.json
//
// A test reads the printed names from CI_SIMULATION_COVERED.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv, env, exit } from 'node:process'
import { LONG } from '@holdfast/testkit/long-run'
import { ROTATIONS, sliceOf } from '@holdfast/testkit/rotation'
import { readReport } from './reports-of-steps.ts'
import { coveredSuites, greenFiles, recordRun, type SimulationRecord } from './simulation-record.ts'
import { hashSuites, SUITES, suiteName } from './simulation-suites.ts'

const ROOT = join(import.meta.dirname, '../..')
const RECORD = join(ROOT, '.ci/simulation.json')
const SLICES = ROTATIONS['simulation-seeds']
const ALL = Array.from({ length: SLICES }, (_, slice) => slice)

const readRecord = (): SimulationRecord =>
  existsSync(RECORD) ? JSON.parse(readFileSync(RECORD, 'utf8')) : {}

async function begin(file: string): Promise<void> {
  const inputs = await hashSuites(ROOT)
  writeFileSync(file, JSON.stringify([...inputs]))
  console.log(coveredSuites(readRecord(), inputs, SLICES).join(' '))
}

function note(file: string, report: string): void {
  // These runs take other seeds.
  if (LONG || env['SIMULATION_FIRST_SEED'] !== undefined) return
  const inputs = new Map<string, string>(JSON.parse(readFileSync(file, 'utf8')))
  const files = greenFiles(readReport(report))
  const green = new Set(SUITES.filter(({ test }) => files.has(join(ROOT, test))).map(suiteName))
  const covered = (env['CI_SIMULATION_COVERED'] ?? '').split(' ')
  const before = readRecord()
  const record = recordRun(before, { inputs, green, slicesOf: (suite) => slicesRun(suite, covered) })
  writeFileSync(RECORD, `${JSON.stringify(record, null, 2)}\n`)
  for (const [suite, { slices }] of Object.entries(record))
    console.log(
      `${suite}: ${covered.includes(suite) ? 'a few seeds, ' : ''}slices ${slices.join()} of ${SLICES} ran green`,
    )
}

/** A run of a few seeds adds no slice. */
function slicesRun(name: string, covered: readonly string[]): readonly number[] {
  if (covered.includes(name)) return []
  const slice = sliceOf('simulation-seeds')
  const sliced = SUITES.some((suite) => suite.sliced && suiteName(suite) === name)
  return sliced && slice !== undefined ? [slice] : ALL
}

const [command, file = '', report = ''] = argv.slice(2)
if (command === 'begin') await begin(file)
else if (command === 'note') note(file, report)
else {
  console.error('usage: simulation.ts begin FILE | note FILE REPORT')
  exit(2)
}

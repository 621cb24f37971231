// Which slices of a suite ran green, and on which code? `.ci/simulation.json` has the hash of the code and the slices. A suite is
// covered if every slice ran green on exactly the code that it would run now; CI then runs a few of its seeds.

import type { Report } from './reports.ts'

/** The hash of the code of a suite, and the slices of its seeds that ran green on this code. */
export interface SuiteRecord {
  readonly inputs: string
  readonly slices: readonly number[]
}

export type SimulationRecord = { readonly [suite: string]: SuiteRecord }

/** A run of the suites of the simulation. */
export interface SimulationRun {
  /** The hashes of the code, taken before the run. */
  readonly inputs: ReadonlyMap<string, string>
  /** The suites of which no test failed or was skipped. */
  readonly green: ReadonlySet<string>
  /** The slices of a suite that the run took. */
  slicesOf(suite: string): readonly number[]
}

/** The suites all of whose slices ran green on the code with these hashes. */
export const coveredSuites = (
  record: SimulationRecord,
  inputs: ReadonlyMap<string, string>,
  slices: number,
): string[] =>
  [...inputs].flatMap(([suite, hash]) => {
    const known = record[suite]
    return known?.inputs === hash && new Set(known.slices).size === slices ? [suite] : []
  })

/** The record after a run. A suite that was not green leaves it as it was. */
export function recordRun(record: SimulationRecord, run: SimulationRun): SimulationRecord {
  const entries = [...run.inputs].flatMap(([suite, inputs]): [string, SuiteRecord][] => {
    const known = record[suite]
    if (!run.green.has(suite)) return known === undefined ? [] : [[suite, known]]
    const before = known?.inputs === inputs ? known.slices : []
    const slices = [...new Set([...before, ...run.slicesOf(suite)])].toSorted((a, b) => a - b)
    return [[suite, { inputs, slices }]]
  })
  return Object.fromEntries(entries)
}

/** The test files of a report whose tests all ran and passed. */
export const greenFiles = ({ testResults }: Report): ReadonlySet<string> =>
  new Set(testResults.filter(isGreen).map(({ name }) => name))

const isGreen = ({ status, assertionResults: tests }: Report['testResults'][number]): boolean =>
  status === 'passed' && tests.length > 0 && tests.every((test) => test.status === 'passed')

import { ROTATIONS, type Rotation } from '@holdfast/testkit/rotation'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { afterRun, chooseSlices, type LastRuns, lastRuns } from '../../scripts/ci/choose-slices.ts'
import type { Ledger } from '../../scripts/ci/kept-ledgers.ts'

const EMPTY: Ledger = {
  run: 0,
  commit: '',
  date: '2026-11-19',
  seconds: 0,
  machineCpuSeconds: 0,
  calibrationMs: 320,
  passed: 0,
  failed: 0,
  skipped: 0,
  slices: {},
  steps: [],
  slowest: [],
  firstFailures: [],
}
const NAMES = Object.keys(ROTATIONS) as Rotation[]

/** Takes the slices of some runs one after another. Returns what each of them took. */
function takeRuns(start: LastRuns, first: number, runs: number): Readonly<Record<Rotation, number>>[] {
  const taken: Readonly<Record<Rotation, number>>[] = []
  let last = start
  for (let run = first; run < first + runs; run += 1) {
    const chosen = chooseSlices(last)
    taken.push(chosen)
    last = afterRun(last, (name) => chosen[name], run)
  }
  return taken
}

const sliceNumbers = (name: Rotation): number[] =>
  Array.from({ length: ROTATIONS[name] }, (_, slice) => slice)

test.each(NAMES)('as many runs as %s has slices take each slice once, whatever ran before', (name) => {
  const anyHistory = fc.array(fc.nat(50), { minLength: ROTATIONS[name], maxLength: ROTATIONS[name] })
  fc.assert(
    fc.property(anyHistory, (history) => {
      const start = lastRuns({ ...EMPTY, slices: { [name]: history } })
      const taken = takeRuns(start, 51, ROTATIONS[name]).map((chosen) => chosen[name])
      expect(taken.toSorted((a, b) => a - b)).toEqual(sliceNumbers(name))
    }),
  )
})

test('a run whose ledger is lost is not counted: the next run takes the same slices again', () => {
  const last = lastRuns({ ...EMPTY, slices: { 'engine-lines': [7, 8] } })
  expect(chooseSlices(last)['engine-lines']).toBe(0)
  expect(chooseSlices(last)['engine-lines']).toBe(0)
})

test('the slice whose last run is the longest ago comes first, and a new slice before all others', () => {
  expect(chooseSlices(lastRuns({ ...EMPTY, slices: { 'simulation-seeds': [9, 4, 8, 6, 7] } }))).toMatchObject(
    {
      'simulation-seeds': 1,
    },
  )
  expect(chooseSlices(lastRuns({ ...EMPTY, slices: { 'simulation-seeds': [9, 4, 8, 6] } }))).toMatchObject({
    'simulation-seeds': 4,
  })
})

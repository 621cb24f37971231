import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Budgets, excessOf, judgeStep, machineFactor, readSteps } from '../../scripts/ci/budgets.ts'

const BUDGETS: Budgets = {
  calibrationMs: 500,
  base: 100,
  raises: [],
  cpuSeconds: { unit: 100 },
  oncePerMachine: { 'first start': 1_000 },
}
const using = (cpuSeconds: number, name = 'unit') => ({
  name,
  wallSeconds: 1,
  cpuSeconds,
  verdict: 'ok',
  report: '',
  script: '',
})

test.each([
  [120, 'ok'],
  [121, 'warning'],
  [150, 'warning'],
  [151, 'failure'],
])('a step with a budget of 100 CPU seconds that uses %i is rated %s', (cpuSeconds, level) => {
  expect(judgeStep(BUDGETS, 1, using(cpuSeconds)).level).toBe(level)
})

test('a step without a budget fails', () => {
  expect(judgeStep(BUDGETS, 1, using(1, 'new step')).level).toBe('failure')
})

test('a step that is repeated is not judged, and a step of a new machine has a budget of its own', () => {
  expect(judgeStep(BUDGETS, 1, using(1_000, 'unit, repeated')).level).toBe('ok')
  expect(judgeStep(BUDGETS, 1, using(1_100, 'first start')).level).toBe('ok')
  expect(judgeStep(BUDGETS, 1, using(1_600, 'first start')).level).toBe('failure')
})

test('the budgets may grow only by a capability that is named', () => {
  const grown: Budgets = { ...BUDGETS, cpuSeconds: { unit: 100, labs: 30 } }
  expect(excessOf(BUDGETS)).toBe(0)
  expect(excessOf(grown)).toBe(30)
  expect(excessOf({ ...grown, raises: [{ capability: 'machines', cpuSeconds: 30 }] })).toBe(0)
})

test('the budgets of this repository do not exceed their sum', () => {
  const kept: Budgets = JSON.parse(readFileSync(join(import.meta.dirname, '../../.ci/budgets.json'), 'utf8'))
  expect(excessOf(kept)).toBeLessThanOrEqual(0)
})

test('a slower machine gets a larger budget, and a faster one no smaller budget', () => {
  expect(judgeStep(BUDGETS, machineFactor(BUDGETS, 1_000), using(200)).level).toBe('ok')
  expect(machineFactor(BUDGETS, 250)).toBe(1)
})

test('the steps of a CI ledger are read', () => {
  const lines =
    'unit\t12\t20\tok\t/tmp/r.json\tvitest run\nwalk\t1\t2\tFAILED (1)\t\ttimeout 9 node scripts/first-minutes.ts\n'
  expect(readSteps(lines)).toEqual([
    { name: 'unit', wallSeconds: 12, cpuSeconds: 20, verdict: 'ok', report: '/tmp/r.json', script: '' },
    {
      name: 'walk',
      wallSeconds: 1,
      cpuSeconds: 2,
      verdict: 'FAILED (1)',
      report: '',
      script: 'scripts/first-minutes.ts',
    },
  ])
})

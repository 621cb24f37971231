import { expect, test } from 'vitest'
import { type Budgets, judgeStep, machineFactor, readSteps } from '../../scripts/ci/budgets.ts'

const BUDGETS: Budgets = { calibrationMs: 500, cpuSeconds: { unit: 100 } }
const using = (cpuSeconds: number, name = 'unit') => ({
  name,
  wallSeconds: 1,
  cpuSeconds,
  verdict: 'ok',
  report: '',
})

test.each([
  [120, 'ok'],
  [121, 'warning'],
  [150, 'warning'],
  [151, 'failure'],
])('a step with a budget of 100 CPU seconds that uses %i is rated %s', (cpuSeconds, level) => {
  expect(judgeStep(BUDGETS, 1, using(cpuSeconds)).level).toBe(level)
})

test('a step without a budget is never rated', () => {
  expect(judgeStep(BUDGETS, 1, using(1_000, 'new step')).level).toBe('unbudgeted')
})

test('a slower machine gets a larger budget, and a faster one no smaller budget', () => {
  expect(judgeStep(BUDGETS, machineFactor(BUDGETS, 1_000), using(200)).level).toBe('ok')
  expect(machineFactor(BUDGETS, 250)).toBe(1)
})

test('the steps of a CI ledger are read', () => {
  expect(readSteps('unit\t12\t20\tok\t/tmp/r.json\nlint\t1\t2\tFAILED (1)\t\n')).toEqual([
    { name: 'unit', wallSeconds: 12, cpuSeconds: 20, verdict: 'ok', report: '/tmp/r.json' },
    { name: 'lint', wallSeconds: 1, cpuSeconds: 2, verdict: 'FAILED (1)', report: '' },
  ])
})

import { expect, test } from 'vitest'
import { aBody, aRecord } from '../admission/admission.fixture.ts'
import { isStateful, updateRulesOf } from './plan-rollout-rules.ts'

const check = { type: 'exec', command: ['true'] }
const mount = { volume: 'v', target: '/data', type: 'volume' as const, readOnly: false }

test('the defaults of an update', () => {
  expect(updateRulesOf(aRecord())).toEqual({
    ...{ order: 'start-first', parallelism: 1, failureAction: 'rollback' },
    ...{ progressDeadlineMs: 300_000, watchMs: 15_000 },
  })
})

test.each([
  ['the defaults of the engine', {}, 3 * (30_000 + 30_000)],
  ['all of it said', { interval: '5s', timeout: '10s', retries: 4, startPeriod: '10s' }, 10_000 + 4 * 15_000],
])('a check is watched as long as it may take to fail: %s', (_what, parts, ms) => {
  expect(updateRulesOf(aRecord(aBody({ healthCheck: { ...check, ...parts } }))).watchMs).toBe(ms)
})

test.each([
  ['none', [], false],
  ['read-write', [mount], true],
  ['read-only', [{ ...mount, readOnly: true }], false],
  ['in memory', [{ ...mount, type: 'tmpfs' as const }], false],
])('a mount that is %s', (_what, volumes, stateful) => {
  expect(isStateful({ volumes })).toBe(stateful)
})

import { expect, test } from 'vitest'
import { aBody, aRecord } from '../admission/admission.fixture.ts'
import { isStateful, updateRulesOf } from './plan-rollout-rules.ts'

const check = { type: 'exec', command: ['true'] }
const mount = { volume: 'v', target: '/data', type: 'volume' as const, readOnly: false }

test('an update uses start-first, one replica at a time, and rollback by default', () => {
  expect(updateRulesOf(aRecord())).toEqual({
    order: 'start-first',
    parallelism: 1,
    failureAction: 'rollback',
    progressDeadlineMs: 300_000,
    watchMs: 15_000,
  })
})

test.each([
  ['the defaults of the engine', {}, 3 * (30_000 + 30_000)],
  [
    'all settings given',
    { interval: '5s', timeout: '10s', retries: 4, startPeriod: '10s' },
    10_000 + 4 * 15_000,
  ],
])('the watch window covers the longest time a health check needs to fail: %s', (_what, parts, ms) => {
  expect(updateRulesOf(aRecord(aBody({ healthCheck: { ...check, ...parts } }))).watchMs).toBe(ms)
})

test.each([
  ['absent', [], false],
  ['read-write', [mount], true],
  ['read-only', [{ ...mount, readOnly: true }], false],
  ['in memory', [{ ...mount, type: 'tmpfs' as const }], false],
])(
  'a mount that is %s makes a deployment stateful only if it is writable storage',
  (_what, volumes, stateful) => {
    expect(isStateful({ volumes })).toBe(stateful)
  },
)

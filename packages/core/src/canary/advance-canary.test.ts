import type { CanaryProgress } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import { abortCanary, advanceCanary, type CanaryFacts, canaryReplanAt } from './advance-canary.ts'

const START = Date.parse('2026-11-18T10:00:00.000Z')
const at = (seconds: number): number => START + seconds * 1000
const timeOf = (seconds: number): string => new Date(at(seconds)).toISOString()

const state = (over: Partial<CanaryProgress> = {}): CanaryProgress => ({
  phase: 'progressing',
  reason: '',
  since: timeOf(0),
  replicas: 2,
  weight: 10,
  observe: '60s',
  failures: [],
  ...over,
})
const facts = (over: Partial<CanaryFacts> = {}): CanaryFacts => ({
  ready: 0,
  unready: 1,
  failure: undefined,
  waits: '',
  deadlineMs: 300_000,
  graceUntil: 0,
  gated: false,
  ...over,
})
const FAILED = { replica: 2, reason: 'unhealthy' } as const

describe('a canary advances', () => {
  test.each<[string, Partial<CanaryProgress>, Partial<CanaryFacts>, number, string]>([
    ['waits for its first replica', {}, {}, 10, 'progressing since 0'],
    ['waits for all its replicas', {}, { ready: 1 }, 10, 'progressing since 0'],
    ['is observed once all replicas serve', {}, { ready: 2 }, 10, 'observing since 10'],
    ['names what it waits for', {}, { waits: 'unschedulable' }, 10, 'progressing since 0: unschedulable'],
    ['no longer names it', { reason: 'unschedulable' }, { ready: 1 }, 10, 'progressing since 0'],
    ['is on time just before its deadline', {}, { ready: 1 }, 299, 'progressing since 0'],
    ['misses its deadline', {}, { ready: 1, unready: 2 }, 300, 'aborted since 300: progress_deadline'],
    ['finds no node in time', {}, { waits: 'unschedulable' }, 300, 'aborted since 300: unschedulable'],
    ['gets no image in time', {}, { waits: 'image_unresolved' }, 300, 'aborted since 300: image_unresolved'],
    ['is not overdue while a dependency is not ready', {}, { gated: true }, 900, 'progressing since 0'],
    [
      'is not overdue when the dependency is ready at last',
      { reason: 'dependency_unhealthy' },
      {},
      900,
      'progressing since 900',
    ],
    ['is not overdue for a new controller', {}, { graceUntil: at(400) }, 399, 'progressing since 0'],
    ['is overdue after that', {}, { graceUntil: at(400) }, 400, 'aborted since 400: progress_deadline'],
    ['is still observed', { phase: 'observing' }, { ready: 2 }, 59, 'observing since 0'],
    ['passes its observation', { phase: 'observing' }, { ready: 2 }, 60, 'ready since 60'],
    [
      'is observed again after a lost replica',
      { phase: 'observing' },
      { ready: 1 },
      30,
      'progressing since 30',
    ],
    ['stays ready without a lost replica', { phase: 'ready' }, { ready: 1 }, 900, 'ready since 0'],
    ['stays ready although all replicas are lost', { phase: 'ready' }, { ready: 0 }, 900, 'ready since 0'],
    ['fails while it starts', {}, { failure: FAILED }, 5, 'aborted since 5: unhealthy'],
    [
      'fails while it is observed',
      { phase: 'observing' },
      { ready: 1, failure: FAILED },
      5,
      'aborted since 5: unhealthy',
    ],
    [
      'fails although its time is over',
      { phase: 'observing' },
      { ready: 2, failure: FAILED },
      60,
      'aborted since 60: unhealthy',
    ],
    [
      'fails after it was ready',
      { phase: 'ready' },
      { ready: 2, failure: FAILED },
      5,
      'aborted since 5: unhealthy',
    ],
    ['stays aborted', { phase: 'aborted', reason: 'exited' }, { ready: 2 }, 900, 'aborted since 0: exited'],
    [
      'does not fail twice',
      { phase: 'aborted', reason: 'exited' },
      { failure: FAILED },
      9,
      'aborted since 0: exited',
    ],
    [
      'does not wait for a clock that was set back',
      { phase: 'observing', since: timeOf(500) },
      { ready: 2 },
      0,
      'observing since 0',
    ],
  ])('%s', (_name, before, seen, seconds, expected) => {
    const next = advanceCanary(state(before), facts(seen), at(seconds))
    const since = (Date.parse(next.since) - START) / 1000
    const reason = next.reason === '' ? '' : `: ${next.reason}`
    expect(`${next.phase} since ${since}${reason}`).toBe(expected)
  })

  test('returns the same object if nothing changes, so that nothing is written', () => {
    for (const phase of ['progressing', 'observing', 'ready', 'aborted'] as const) {
      const before = state({ phase })
      expect(advanceCanary(before, facts({ ready: phase === 'progressing' ? 1 : 2 }), at(1))).toBe(before)
    }
  })

  test('notes the failed replica once', () => {
    const failed = advanceCanary(state(), facts({ failure: { ...FAILED, cause: 'exit code 3' } }), at(7))
    expect(failed.failures).toEqual([{ ...FAILED, cause: 'exit code 3', at: timeOf(7) }])
    expect(advanceCanary(failed, facts({ failure: FAILED }), at(8))).toBe(failed)
  })

  test('notes the replica that missed the deadline', () => {
    const { failures } = advanceCanary(state(), facts({ unready: 2 }), at(300))
    expect(failures).toEqual([{ replica: 2, reason: 'progress_deadline', at: timeOf(300) }])
  })

  test('ends without a failure on request', () => {
    expect(abortCanary(state({ phase: 'ready' }), 'aborted', at(9))).toMatchObject({
      phase: 'aborted',
      reason: 'aborted',
      since: timeOf(9),
      failures: [],
    })
  })
})

test('a canary is planned again at its deadline and at the end of its observation', () => {
  expect(canaryReplanAt(state(), facts())).toBe(at(300))
  expect(canaryReplanAt(state(), facts({ graceUntil: at(400) }))).toBe(at(400))
  expect(canaryReplanAt(state({ phase: 'observing' }), facts())).toBe(at(60))
  expect(canaryReplanAt(state({ phase: 'ready' }), facts())).toBeUndefined()
  expect(canaryReplanAt(state({ phase: 'aborted' }), facts())).toBeUndefined()
})

// The rate at which one assignment is reported.

import type { AssignmentId } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { createReportRate } from './report-rate.ts'

const [A, B] = ['rep_a', 'rep_b'] as [AssignmentId, AssignmentId]

function rate() {
  let now = 0
  const created = createReportRate(() => now)
  const pass = (ms: number): void => {
    now += ms
  }
  /** Sends reports as early as allowed, and returns how many were sent within the time. */
  const sentWithin = (ms: number): number => {
    let sent = 0
    for (const end = now + ms; ; sent += 1) {
      const delay = created.delayMs(A)
      if (now + delay > end) return sent
      pass(delay)
      created.spend(A)
    }
  }
  return { ...created, pass, sentWithin }
}

test('sends a burst at once, then one report every 15 seconds', () => {
  const { sentWithin } = rate()
  expect([sentWithin(0), sentWithin(60_000), sentWithin(60_000)]).toEqual([8, 4, 4])
})

test('restores the burst of an assignment that was quiet', () => {
  const { sentWithin, pass } = rate()
  sentWithin(0)
  pass(120_000)
  expect(sentWithin(0)).toBe(8)
})

test('delays no other assignment, and forgets an assignment that is gone', () => {
  const { sentWithin, delayMs, forget } = rate()
  sentWithin(0)
  expect([delayMs(A), delayMs(B)]).toEqual([15_000, 0])
  forget(A)
  expect(delayMs(A)).toBe(0)
})

test('urgent reports delay the next report by one interval at most', () => {
  const { delayMs, spend } = rate()
  for (let count = 0; count < 100; count += 1) spend(A)
  expect(delayMs(A)).toBe(15_000)
})

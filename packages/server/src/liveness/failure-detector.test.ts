// Tests the failure detector. The gateway and the liveness watch share one detector and check it at different intervals.

import { expect, test } from 'vitest'
import { DEFAULT_TIMES } from '../gateway/timings.ts'
import type { Store } from '../store/store.ts'
import { createFailureDetector } from './failure-detector.ts'

const GATEWAY_MS = 250
const WATCH_MS = 1_000

function newDetector() {
  let now = 1_000_000
  let polls = 0
  const store: Pick<Store, 'get' | 'list' | 'keysOf' | 'fresh' | 'subscribe'> = {
    get: () => undefined,
    list: () => [],
    keysOf: () => [],
    fresh: async () => {
      polls += 1
    },
    subscribe: () => () => {},
  }
  const detector = createFailureDetector({
    store,
    self: 'me',
    times: DEFAULT_TIMES,
    checkMs: GATEWAY_MS,
    monotonic: () => now,
  })
  return {
    detector,
    polls: () => polls,
    skip(ms: number) {
      now += ms
    },
    /** Advances the clock, while the gateway and the liveness watch each check the detector at their own interval. */
    async pass(ms: number) {
      for (let passed = GATEWAY_MS; passed <= ms; passed += GATEWAY_MS) {
        now += GATEWAY_MS
        detector.check(now)
        if (passed % WATCH_MS === 0) detector.check(now)
        await Promise.resolve()
      }
    },
  }
}

test('polls the store at its own rate, however many users check', async () => {
  const { pass, polls } = newDetector()
  await pass(60_000)
  expect(polls()).toBe((60_000 / DEFAULT_TIMES.awayMs) * 3)
})

test('counts time in which the process was suspended once for both users', async () => {
  const { detector, pass, skip } = newDetector()
  await pass(10_000)
  const before = detector.countedFrom
  skip(12_000)
  await pass(10_000)
  expect(detector.countedFrom - before).toBe(12_000)
})

test('does not take a late check of one user for a suspended process', async () => {
  const { detector, pass } = newDetector()
  const before = detector.countedFrom
  await pass(30_000)
  expect(detector.countedFrom).toBe(before)
})

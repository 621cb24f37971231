// Tests what the agent reports about an engine that answers, hangs, dies and answers again.

import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { EngineError } from '../ports/engine.ts'
import { createEngineWatch } from './watch-engine.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

type Answer = 'list' | 'refused' | 'unavailable' | 'hang'

function watch() {
  let skippedMs = 0
  let answer: Answer = 'list'
  const listLabelled = vi.fn(async () => {
    if (answer === 'hang') {
      await new Promise((resolve) => setTimeout(resolve, 10_000))
      throw new EngineError('timeout', 'no answer')
    }
    if (answer !== 'list') throw new EngineError(answer, answer)
    return []
  })
  const engine = createEngineWatch({
    engine: { listLabelled },
    monotonicMs: () => performance.now() + skippedMs,
  })
  onTestFinished(engine.close)
  return {
    listLabelled,
    health: engine.health,
    async pass(next: Answer, ms: number) {
      answer = next
      await vi.advanceTimersByTimeAsync(ms)
    },
    suspend(ms: number) {
      skippedMs += ms
    },
  }
}

test('counts the time since the last answer, and since when all checks were answered', async () => {
  const { health, pass } = watch()
  await pass('list', 60_000)
  expect(health().silentMs).toBeLessThan(2_001)
  expect(health().steadyMs).toBeGreaterThan(59_000)
  await pass('unavailable', 30_000)
  expect(health().silentMs).toBeGreaterThan(29_000)
  expect(health().steadyMs).toBe(0)
  await pass('list', 10_000)
  expect(health().silentMs).toBeLessThan(2_001)
  expect(health().steadyMs).toBeGreaterThan(7_000)
  expect(health().steadyMs).toBeLessThan(10_001)
})

test('a hanging engine gets one check at a time', async () => {
  const { health, pass, listLabelled } = watch()
  await pass('hang', 40_000)
  expect(health()).toEqual({ silentMs: 40_000, steadyMs: 0 })
  expect(listLabelled.mock.calls.length).toBeLessThan(6)
})

test('an engine that refuses the check answers', async () => {
  const { health, pass } = watch()
  await pass('refused', 40_000)
  expect(health().silentMs).toBeLessThan(2_001)
})

test('time for which the agent was suspended is no silence of the engine', async () => {
  const { health, pass, suspend } = watch()
  await pass('list', 10_000)
  suspend(600_000)
  expect(health().silentMs).toBeLessThan(4_001)
  await pass('list', 10_000)
  expect(health().steadyMs).toBeLessThan(25_000)
})

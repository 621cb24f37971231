import { expect, test } from 'vitest'
import { repeat } from './repeat.ts'

const NEVER_MS = 3_600_000
const rethrow = (error: unknown): never => {
  throw error
}

/** A work function whose runs end only when the test ends them. */
function heldWork() {
  const runs: (() => void)[] = []
  const work = () => new Promise<void>((resolve) => runs.push(resolve))
  return { runs, work }
}

test('nudges during a run of repeated work cause one more run', async () => {
  const { runs, work } = heldWork()
  const repeating = repeat(NEVER_MS, work, rethrow)
  repeating.nudge()
  repeating.nudge()
  repeating.nudge()
  expect(runs).toHaveLength(1)
  runs[0]?.()
  await expect.poll(() => runs.length, { timeout: 15_000 }).toBe(2)
  runs[1]?.()
  await repeating.stop()
  expect(runs).toHaveLength(2)
})

test('stopped work does not run again, even if nudged', async () => {
  const { runs, work } = heldWork()
  const repeating = repeat(NEVER_MS, work, rethrow)
  repeating.nudge()
  const stopped = repeating.stop()
  repeating.nudge()
  runs[0]?.()
  await stopped
  repeating.nudge()
  expect(runs).toHaveLength(1)
})

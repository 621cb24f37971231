import { expect, test } from 'vitest'
import { repeat } from './repeat.ts'

const NEVER_MS = 3_600_000
const rethrow = (error: unknown): never => {
  throw error
}

/** Work of which each turn ends when it is let. */
function heldWork() {
  const turns: (() => void)[] = []
  const work = () => new Promise<void>((resolve) => turns.push(resolve))
  return { turns, work }
}

test('what comes while it works leads to one more turn', async () => {
  const { turns, work } = heldWork()
  const repeating = repeat(NEVER_MS, work, rethrow)
  repeating.nudge()
  repeating.nudge()
  repeating.nudge()
  expect(turns).toHaveLength(1)
  turns[0]?.()
  await expect.poll(() => turns.length, { timeout: 15_000 }).toBe(2)
  turns[1]?.()
  await repeating.stop()
  expect(turns).toHaveLength(2)
})

test('once it is stopped nothing is begun, whoever still asks for it', async () => {
  const { turns, work } = heldWork()
  const repeating = repeat(NEVER_MS, work, rethrow)
  repeating.nudge()
  const stopped = repeating.stop()
  repeating.nudge()
  turns[0]?.()
  await stopped
  repeating.nudge()
  expect(turns).toHaveLength(1)
})

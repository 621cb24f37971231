// Tests that sliced work lets the event loop run, and that all such work shares one slice of each turn.

import { expect, test } from 'vitest'
import { inSlices } from './slices.ts'

/** Steps that each occupy the thread for a millisecond. */
function* busy(steps: number, onStep: () => void = () => {}): Generator<undefined, number> {
  for (let step = 0; step < steps; step += 1) {
    const until = performance.now() + 1
    while (performance.now() < until);
    onStep()
    yield
  }
  return steps
}

/** Counts the turns of the event loop until `work` has ended. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0
  let isOver = false
  const count = () => {
    turns += 1
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await work
  isOver = true
  return turns
}

test('the event loop runs between the slices of long work', async () => {
  expect(await turnsDuring(inSlices(busy(40)))).toBeGreaterThan(15)
})

test('several works share the slice of a turn, and the first ends first', async () => {
  const ended: number[] = []
  const works = [1, 2, 3].map(async (number) => {
    await inSlices(busy(20))
    ended.push(number)
  })
  expect(await turnsDuring(Promise.all(works))).toBeGreaterThan(20)
  expect(ended).toEqual([1, 2, 3])
})

test('work that throws ends with its error', async () => {
  const steps = busy(3, () => {
    throw new Error('a step failed')
  })
  await expect(inSlices(steps)).rejects.toThrow('a step failed')
})

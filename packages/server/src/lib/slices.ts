// Runs long synchronous work in slices, so that other requests are served in between. All such work of the process shares
// one slice of each turn of the event loop: the first work that began is the first to end.

import { setImmediate as nextTurn } from 'node:timers/promises'

/** How long sliced work may take before the event loop runs. A slice ends between two steps of the work. */
const SLICE_MS = 2

/** When the slice of this turn began; undefined while no work has run in this turn. */
let began: number | undefined

function hasTime(): boolean {
  if (began === undefined) {
    began = performance.now()
    setImmediate(() => {
      began = undefined
    })
  }
  return performance.now() - began < SLICE_MS
}

/** Runs the steps to their end. The caller continues in the next turn. */
export async function inSlices<Result>(steps: Generator<undefined, Result>): Promise<Result> {
  for (;;) {
    while (hasTime()) {
      const step = steps.next()
      if (!step.done) continue
      await nextTurn()
      return step.value
    }
    await nextTurn()
  }
}

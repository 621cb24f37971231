// Runs long synchronous work in slices, so that other requests are served in between.

import { setImmediate } from 'node:timers/promises'

/** How long a slice may take before the event loop runs. A slice ends between two steps of the work. */
const SLICE_MS = 4

/** Runs the steps to their end. The caller continues in a slice of its own. */
export async function inSlices<Result>(steps: Generator<undefined, Result>): Promise<Result> {
  for (;;) {
    const until = performance.now() + SLICE_MS
    let step = steps.next()
    while (!step.done && performance.now() < until) step = steps.next()
    await setImmediate()
    if (step.done) return step.value
  }
}

// Runs long synchronous work in slices, so that other requests are served in between.

import { setImmediate } from 'node:timers/promises'

/** How long a slice may take before the event loop runs. A slice ends between two steps of the work. */
const SLICE_MS = 4

export async function inSlices<Result>(steps: Generator<undefined, Result>): Promise<Result> {
  for (;;) {
    const until = performance.now() + SLICE_MS
    do {
      const { done, value } = steps.next()
      if (done) return value
    } while (performance.now() < until)
    await setImmediate()
  }
}

// The time at which a number of containers run, from the engines' start events. Used for all variants of the benchmark.

import type { Engine } from '@holdfast/agent/ports/engine'
import { ASSIGNMENT_LABEL } from '@holdfast/core/node'

const DEADLINE_MS = 180_000

export interface StartWatch {
  /**
   * Resolves with the start time (performance.now()) of the last of `count` new containers. Call before their creation.
   */
  untilStarted(count: number): Promise<number>
  close(): void
}

export async function watchStarts(engines: readonly Engine[], label = ASSIGNMENT_LABEL): Promise<StartWatch> {
  const ending = new AbortController()
  const seen = new Set<string>()
  let expected = { count: 0, reached: (_at: number): void => {} }
  const note = (containerId: string): void => {
    seen.add(containerId)
    if (seen.size === expected.count) expected.reached(performance.now())
  }
  const open = (engine: Engine): Promise<void> =>
    new Promise((resolve, reject) => {
      engine
        .watchContainers(
          label,
          resolve,
          ({ action, containerId }) => action === 'start' && note(containerId),
          ending.signal,
        )
        .catch(reject)
    })
  await Promise.all(engines.map(open))
  return {
    untilStarted(count) {
      seen.clear()
      return new Promise((resolve, reject) => {
        const late = (): void => reject(new Error(`only ${seen.size} of ${count} containers started in time`))
        const timer = setTimeout(late, DEADLINE_MS)
        const reached = (at: number): void => {
          clearTimeout(timer)
          resolve(at)
        }
        expected = { count, reached }
      })
    },
    close: () => ending.abort(),
  }
}

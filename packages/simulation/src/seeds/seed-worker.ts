// A thread that runs the seeds it is sent, one after another. A simulation replaces the timers of the whole thread, so each
// has one of its own, and as many run at once as there are processors.

import { parentPort } from 'node:worker_threads'
import { randomScript } from './random-script.ts'
import { runSeed } from './run-seed.ts'
import { shrinkScript } from './shrink-script.ts'

interface Asked {
  readonly seed: number
  /** The invariant that the seed breaks; absent: the seed is run. */
  readonly shrinkFor?: string
}

parentPort?.on('message', ({ seed, shrinkFor }: Asked) => {
  const answer = shrinkFor === undefined ? runSeed(seed) : shrinkScript(randomScript(seed), seed, shrinkFor)
  void answer.then((result) => parentPort?.postMessage(result))
})

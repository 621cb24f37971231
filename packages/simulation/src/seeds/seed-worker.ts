// A worker thread that runs the seeds it receives, one after another. A simulation replaces the timers of its thread, so
// a thread runs one seed at a time, and there are as many threads as processors.

import { parentPort } from 'node:worker_threads'
import { randomScript } from './random-script.ts'
import { runSeed } from './run-seed.ts'
import { shrinkScript } from './shrink-script.ts'

interface Asked {
  readonly seed: number
  /** Invariant that the seed breaks: the worker then shortens the seed's script. If absent, the worker runs the seed. */
  readonly shrinkFor?: string
}

parentPort?.on('message', ({ seed, shrinkFor }: Asked) => {
  const answer = shrinkFor === undefined ? runSeed(seed) : shrinkScript(randomScript(seed), seed, shrinkFor)
  void answer.then((result) => parentPort?.postMessage(result))
})

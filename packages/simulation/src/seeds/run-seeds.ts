// Runs many seeds on all processors. Results arrive in any order; the result of a seed does not depend on other seeds.

import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Script } from '../script/script.ts'
import type { SeedResult } from './run-seed.ts'

interface SeedsWanted<R> {
  readonly seeds: Iterable<number>
  readonly threads?: number | undefined
  /** URL of the worker script, to run the seeds on a modified copy of the packages. Default: the worker of this copy. */
  readonly worker?: URL
  /** Receives each result. Returns false to stop the run. */
  onResult(result: R): boolean
}

/** A simulation makes much that soon is garbage. A larger young generation is collected less often. */
const MEMORY = { maxYoungGenerationSizeMb: 192 }

const OWN_WORKER = new URL('./seed-worker.ts', import.meta.url)

/** Runs the seeds. Resolves when all seeds have run or `onResult` returned false. */
export async function runSeeds<R = SeedResult>(wanted: SeedsWanted<R>): Promise<void> {
  const { threads = availableParallelism(), worker: url = OWN_WORKER } = wanted
  const left = wanted.seeds[Symbol.iterator]()
  const workers = Array.from({ length: threads }, () => new Worker(url, { resourceLimits: MEMORY }))
  let over = false
  const onResult = (result: R): void => {
    if (!wanted.onResult(result)) over = true
  }
  const next = (): number | undefined => {
    const { value, done } = over ? { value: undefined, done: true } : left.next()
    return done === true ? undefined : value
  }
  try {
    await Promise.all(workers.map((worker) => runOn(worker, next, onResult)))
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()))
  }
}

function runOn<R>(
  worker: Worker,
  next: () => number | undefined,
  onResult: (result: R) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const goOn = (): void => {
      const seed = next()
      if (seed === undefined) resolve()
      else worker.postMessage({ seed })
    }
    worker.on('error', reject)
    worker.on('message', (result: R) => {
      onResult(result)
      goOn()
    })
    goOn()
  })
}

/** Shortens the script of a seed to a small script that still breaks the invariant. */
export async function shrinkSeed(seed: number, invariant: string): Promise<Script> {
  const worker = new Worker(OWN_WORKER)
  try {
    return await new Promise((resolve, reject) => {
      worker.on('error', reject)
      worker.on('message', resolve)
      worker.postMessage({ seed, shrinkFor: invariant })
    })
  } finally {
    await worker.terminate()
  }
}

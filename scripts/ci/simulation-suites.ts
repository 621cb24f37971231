// The suites of the simulation that CI runs in slices, each with the worker that runs its seeds.

import { basename } from 'node:path'
import { hashBundles } from './hash-bundle.ts'

export interface Suite {
  readonly test: string
  readonly worker: string
  /** Whether a run takes a slice of its seeds; otherwise it takes all. */
  readonly sliced: boolean
}

const FOLDER = 'packages/simulation/src'
const SEARCH = `${FOLDER}/promotion/search-worker.ts`
const seeds = (name: string): Suite => ({
  test: `${FOLDER}/seeds/${name}.test.ts`,
  worker: `${FOLDER}/seeds/seed-worker.ts`,
  sliced: true,
})

export const SUITES: readonly Suite[] = [
  ...['seeds', 'failures', 'many-jobs', 'store-cuts', 'creations'].map(seeds),
  { test: `${FOLDER}/effects/effects.test.ts`, worker: `${FOLDER}/effects/changes-worker.ts`, sliced: true },
  { test: `${FOLDER}/promotion/search.test.ts`, worker: SEARCH, sliced: false },
  { test: `${FOLDER}/promotion/missing-guards.test.ts`, worker: SEARCH, sliced: true },
]

/** The name of a suite: that of its test file. */
export const suiteName = ({ test }: Pick<Suite, 'test'>): string => basename(test, '.test.ts')

/** Hashes all code that each suite runs: its product, its seeds and its expectations. */
export async function hashSuites(root: string): Promise<ReadonlyMap<string, string>> {
  const hashes = new Map<string, string>()
  for (const suite of SUITES)
    hashes.set(suiteName(suite), await hashBundles(root, [suite.worker, suite.test]))
  return hashes
}

// The effects that a dry run states are those that the change then has, for random changes on random clusters
// (docs/design/simulation.md#effects).

import { env } from 'node:process'
import { LONG } from '@holdfast/testkit/long-run'
import { expect, test } from 'vitest'
import { runSeeds } from '../seeds/run-seeds.ts'
import type { ChangesResult } from './run-changes.ts'

/** Changes to compare, from the same seeds at every commit; the long run starts at another seed. */
const CHANGES = LONG ? 10_000 : 700
const FIRST_SEED = Number(env['SIMULATION_FIRST_SEED'] ?? 1)
const TIMEOUT_MS = LONG ? 3_600_000 : 2_400_000

function* seedsFrom(first: number): Generator<number> {
  for (let seed = first; ; seed += 1) yield seed
}

test(
  'the effects of random changes are those that their dry runs stated',
  async () => {
    const worker = new URL('./changes-worker.ts', import.meta.url)
    let [compared, effective] = [0, 0]
    const wrong: ChangesResult[] = []
    await runSeeds<ChangesResult>({
      worker,
      seeds: seedsFrom(FIRST_SEED),
      onResult(result) {
        compared += result.compared
        effective += result.effective
        if (result.differences.length > 0) wrong.push(result)
        return compared < CHANGES
      },
    })
    console.log(`${compared} changes from seed ${FIRST_SEED} on, ${effective} of them with effects`)
    expect(wrong.map(({ seed, differences }) => [seed, differences])).toEqual([])
    expect(effective).toBeGreaterThan(CHANGES / 3)
  },
  TIMEOUT_MS,
)

// The effects that a dry run states are those that the change then has, for random changes on random clusters
// (docs/design/simulation.md#effects).

import { env } from 'node:process'
import { inRun } from '@holdfast/testkit/long-run'
import { expect, test } from 'vitest'
import { runSeeds } from '../seeds/run-seeds.ts'
import { seedsInTurn } from '../seeds/seeds-in-turn.fixture.ts'
import type { ChangesResult } from './run-changes.ts'

const chosen = seedsInTurn('effects')
/** Changes to compare. CI always chooses from the same seeds; the long run starts at another seed. */
const CHANGES = chosen.share(inRun(700, 10_000))
const FIRST_SEED = Number(env['SIMULATION_FIRST_SEED'] ?? 1)
const TIMEOUT_MS = inRun(2_400_000, 3_600_000)

test(
  'the effects of random changes are those that their dry runs stated',
  async () => {
    const worker = new URL('./changes-worker.ts', import.meta.url)
    let [compared, effective] = [0, 0]
    const wrong: ChangesResult[] = []
    await runSeeds<ChangesResult>({
      worker,
      threads: chosen.threads,
      seeds: chosen.from(FIRST_SEED),
      onResult(result) {
        compared += result.compared
        effective += result.effective
        if (result.differences.length > 0) wrong.push(result)
        return compared < CHANGES
      },
    })
    console.log(`${compared} changes from seed ${FIRST_SEED} on, ${effective} of them with effects`)
    expect(wrong.map(({ seed, differences }) => [seed, differences])).toEqual([])
    expect(compared).toBeGreaterThanOrEqual(CHANGES)
    // Changes without effects would prove little. A few seeds may have none.
    if (!chosen.few) expect(effective).toBeGreaterThan(CHANGES / 3)
  },
  TIMEOUT_MS,
)

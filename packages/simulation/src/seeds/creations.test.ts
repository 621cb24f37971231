// Machines cannot create containers for a time while one server after another fails: each replica runs elsewhere in time, or is
// explained (docs/design/simulation.md#creations). CI runs a slice of them.

import { env } from 'node:process'
import { inRun } from '@holdfast/testkit/long-run'
import { expect, test } from 'vitest'
import { describeRed } from './describe-red.ts'
import { FIRST_CREATION_SEED } from './random-script.ts'
import type { SeedResult } from './run-seed.ts'
import { runSeeds } from './run-seeds.ts'
import { seedsInTurn } from './seeds-in-turn.fixture.ts'

const chosen = seedsInTurn('creations')
const SEEDS = chosen.share(inRun(120, 5_000))
const FIRST_SEED = FIRST_CREATION_SEED + Number(env['SIMULATION_FIRST_SEED'] ?? 1)
const TIMEOUT_MS = inRun(1_200_000, 7_200_000)

test(
  'replicas that their machines cannot create run elsewhere in time, or are explained',
  async () => {
    let red: SeedResult | undefined
    const sums = { seeds: 0, faults: 0, moved: 0 }
    await runSeeds({
      threads: chosen.threads,
      seeds: chosen.from(FIRST_SEED, SEEDS),
      onResult(result) {
        if (result.violations.length > 0) red ??= result
        sums.seeds += 1
        sums.faults += result.failures
        sums.moved += result.moved
        return red === undefined
      },
    })
    console.log(`${sums.seeds} seeds with ${sums.faults} faults, ${sums.moved} events of replicas that left`)
    expect(red === undefined ? '' : await describeRed(red)).toBe('')
    expect(sums.seeds).toBe(SEEDS)
    // Scripts in which no replica leaves would prove little. A few seeds may have none.
    if (!chosen.few) expect(sums.moved).toBeGreaterThan(SEEDS / 2)
  },
  TIMEOUT_MS,
)

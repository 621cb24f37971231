// Servers lose the store for up to 20 minutes while their agents are well: no node is declared failed as long as another server
// reaches the store (docs/design/liveness.md#cut-off). CI runs a slice of them.

import { env } from 'node:process'
import { inRun } from '@holdfast/testkit/long-run'
import { expect, test } from 'vitest'
import { describeRed } from './describe-red.ts'
import { FIRST_STORE_CUT_SEED } from './random-script.ts'
import type { SeedResult } from './run-seed.ts'
import { runSeeds } from './run-seeds.ts'
import { seedsInTurn } from './seeds-in-turn.fixture.ts'

const chosen = seedsInTurn('store-cuts')
const SEEDS = chosen.share(inRun(40, 2_000))
const FIRST_SEED = FIRST_STORE_CUT_SEED + Number(env['SIMULATION_FIRST_SEED'] ?? 1)
const TIMEOUT_MS = inRun(1_200_000, 7_200_000)

test(
  'servers that lose the store for minutes let no healthy node fail',
  async () => {
    let red: SeedResult | undefined
    const sums = { seeds: 0, cuts: 0 }
    const began = performance.now()
    await runSeeds({
      threads: chosen.threads,
      seeds: chosen.from(FIRST_SEED, SEEDS),
      onResult(result) {
        if (result.violations.length > 0) red ??= result
        sums.seeds += 1
        sums.cuts += result.failures
        return red === undefined
      },
    })
    const seconds = Math.round((performance.now() - began) / 1_000)
    console.log(`${sums.seeds} seeds with ${sums.cuts} cuts and restarts of agents in ${seconds} s`)
    expect(red === undefined ? '' : await describeRed(red)).toBe('')
    expect(sums.seeds).toBe(SEEDS)
  },
  TIMEOUT_MS,
)

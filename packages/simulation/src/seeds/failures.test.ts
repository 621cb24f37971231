// Scripts of failures around volumes with writers, until enough failures were injected. CI takes them from a slice of the
// seeds (docs/design/simulation.md#failures).

import { env } from 'node:process'
import { inRun } from '@holdfast/testkit/long-run'
import { expect, test } from 'vitest'
import { describeRed } from './describe-red.ts'
import { FIRST_FAILURE_SEED } from './random-script.ts'
import type { SeedResult } from './run-seed.ts'
import { runSeeds } from './run-seeds.ts'
import { seedsInTurn } from './seeds-in-turn.fixture.ts'

const chosen = seedsInTurn('failures')
const FAILURES = chosen.share(inRun(20_000, 1_000_000))
const FIRST_SEED = FIRST_FAILURE_SEED + Number(env['SIMULATION_FIRST_SEED'] ?? 1)
const TIMEOUT_MS = inRun(2_400_000, 7_200_000)

test(
  'failures of machines, networks and servers break no invariant of volumes',
  async () => {
    let red: SeedResult | undefined
    const sums = { seeds: 0, failures: 0, promotions: 0 }
    const before = process.cpuUsage()
    await runSeeds({
      threads: chosen.threads,
      seeds: chosen.from(FIRST_SEED),
      onResult(result) {
        if (result.violations.length > 0) red ??= result
        sums.seeds += 1
        sums.failures += result.failures
        sums.promotions += result.promotions
        return red === undefined && sums.failures < FAILURES
      },
    })
    const { user, system } = process.cpuUsage(before)
    const { seeds, failures, promotions } = sums
    const seconds = Math.round((user + system) / 1e6)
    console.log(`${failures} failures in ${seeds} seeds, ${promotions} promotions, ${seconds} s of CPU`)
    expect(red === undefined ? '' : await describeRed(red)).toBe('')
    expect(failures).toBeGreaterThanOrEqual(FAILURES)
    // Scripts in which nothing is promoted would prove little. A few seeds may have no promotion.
    if (!chosen.few) expect(promotions).toBeGreaterThan(failures / 1_000)
  },
  TIMEOUT_MS,
)

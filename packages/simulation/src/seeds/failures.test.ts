// Scripts of failures around volumes with writers, until enough failures were injected. The seeds of CI are the same at every
// commit (docs/design/simulation.md#failures).

import { env } from 'node:process'
import { LONG } from '@holdfast/testkit/long-run'
import { expect, test } from 'vitest'
import { describeRed } from './describe-red.ts'
import { FIRST_FAILURE_SEED } from './random-script.ts'
import type { SeedResult } from './run-seed.ts'
import { runSeeds } from './run-seeds.ts'

const FAILURES = LONG ? 1_000_000 : 20_000
const FIRST_SEED = FIRST_FAILURE_SEED + Number(env['SIMULATION_FIRST_SEED'] ?? 1)
const TIMEOUT_MS = LONG ? 7_200_000 : 2_400_000

function* seedsFrom(first: number): Generator<number> {
  for (let seed = first; ; seed += 1) yield seed
}

test(
  'failures of machines, networks and servers break no invariant of volumes',
  async () => {
    let red: SeedResult | undefined
    const sums = { seeds: 0, failures: 0, promotions: 0 }
    const before = process.cpuUsage()
    await runSeeds({
      seeds: seedsFrom(FIRST_SEED),
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
    // Scripts in which nothing is promoted would prove little.
    expect(promotions).toBeGreaterThan(failures / 1_000)
  },
  TIMEOUT_MS,
)

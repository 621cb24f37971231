// Many jobs through simulated agents, while agents, engines, machines, networks and servers fail: each ends exactly once, with
// the attempts of its spec, in at most one container at a time, and its log stays readable. The invariants check this at every
// moment; the test counts the ends (docs/design/simulated-work.md#jobs).

import { env } from 'node:process'
import { inRun } from '@holdfast/testkit/long-run'
import { expect, test } from 'vitest'
import { describeRed } from './describe-red.ts'
import { FIRST_MANY_JOBS_SEED } from './random-script.ts'
import type { SeedResult } from './run-seed.ts'
import { runSeeds } from './run-seeds.ts'
import { seedsInTurn } from './seeds-in-turn.fixture.ts'

const chosen = seedsInTurn('many-jobs')
const JOBS = chosen.share(inRun(450, 10_000))
const FIRST_SEED = FIRST_MANY_JOBS_SEED + Number(env['SIMULATION_FIRST_SEED'] ?? 1)
const TIMEOUT_MS = inRun(2_400_000, 7_200_000)

test(
  'every job ends in exactly one final state while agents, engines and servers are killed',
  async () => {
    let red: SeedResult | undefined
    const sums = { created: 0, succeeded: 0, failed: 0, cancelled: 0 }
    const runs = { seeds: 0, failures: 0 }
    await runSeeds({
      threads: chosen.threads,
      seeds: chosen.from(FIRST_SEED),
      onResult(result) {
        if (result.violations.length > 0) red ??= result
        for (const name of ['created', 'succeeded', 'failed', 'cancelled'] as const)
          sums[name] += result.jobs[name]
        runs.seeds += 1
        runs.failures += result.failures
        return red === undefined && sums.created < JOBS
      },
    })
    const { created, succeeded, failed, cancelled } = sums
    console.log(
      `${created} jobs in ${runs.seeds} seeds with ${runs.failures} failures: ${succeeded} succeeded, ${failed} failed, ${cancelled} cancelled`,
    )
    expect(red === undefined ? '' : await describeRed(red)).toBe('')
    expect(created).toBeGreaterThanOrEqual(JOBS)
    expect(succeeded + failed + cancelled).toBe(created)
  },
  TIMEOUT_MS,
)

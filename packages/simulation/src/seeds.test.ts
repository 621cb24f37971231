// Thousands of small stories, each from a seed, through the real controllers, with every invariant asked after every step.
// What breaks one is printed as a script that `holdfast-simulate` plays again. SAFETY 5.

import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { env } from 'node:process'
import { expect, test } from 'vitest'
import type { SeedResult } from './seeds/run-seed.ts'
import { runSeeds, shrinkSeed } from './seeds/run-seeds.ts'

const SEEDS = env.HOLDFAST_LONG === '1' ? 50_000 : 2_000
const TWICE = 20
const MOST_MS = env.HOLDFAST_LONG === '1' ? 3_600_000 : 900_000

const hashes = new Map<number, string>()

function* upTo(count: number): Generator<number> {
  for (let seed = 1; seed <= count; seed += 1) yield seed
}

test(
  `${SEEDS} seeds break no invariant`,
  async () => {
    let red: SeedResult | undefined
    await runSeeds({
      seeds: upTo(SEEDS),
      onResult(result) {
        hashes.set(result.seed, result.traceHash)
        if (result.violations.length > 0) red ??= result
        return red === undefined
      },
    })
    expect(red === undefined ? '' : await describeRed(red)).toBe('')
    expect(hashes.size).toBe(SEEDS)
  },
  MOST_MS,
)

test(
  `${TWICE} of them run again leave the same trace, to the bit`,
  async () => {
    const again = new Map<number, string>()
    await runSeeds({
      seeds: upTo(TWICE),
      onResult: ({ seed, traceHash }) => again.set(seed, traceHash).size > 0,
    })
    expect([...again].filter(([seed, hash]) => hash === '' || hashes.get(seed) !== hash)).toEqual([])
    expect(again.size).toBe(TWICE)
  },
  MOST_MS,
)

async function describeRed({ seed, violations }: SeedResult): Promise<string> {
  const [first] = violations
  const script = await shrinkSeed(seed, first?.invariant ?? '')
  const file = join(tmpdir(), `seed-${seed}.json`)
  const text = JSON.stringify(script, undefined, 1)
  writeFileSync(file, text)
  const broken = violations.map(({ invariant, subject, message }) => `${invariant}: ${subject} ${message}`)
  return [`seed ${seed}`, ...broken, `holdfast-simulate ${file}`, text].join('\n')
}

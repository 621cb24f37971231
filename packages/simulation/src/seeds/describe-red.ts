// The report of a seed that breaks an invariant: what broke, and the shortest script that still breaks it.

import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SeedResult } from './run-seed.ts'
import { shrinkSeed } from './run-seeds.ts'

export async function describeRed({ seed, violations }: SeedResult): Promise<string> {
  const [first] = violations
  const script = await shrinkSeed(seed, first?.invariant ?? '')
  const file = join(tmpdir(), `seed-${seed}.json`)
  const text = JSON.stringify(script, undefined, 1)
  writeFileSync(file, text)
  const broken = violations.map(({ invariant, subject, message }) => `${invariant}: ${subject} ${message}`)
  return [`seed ${seed}`, ...broken, `holdfast-simulate ${file}`, text].join('\n')
}

// The promotion protocol keeps its guarantees in every state within the bounds, and each missing guard is found
// (docs/design/promotion.md#search). CI searches everything, unless it has searched exactly this code.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { applyEdit, copyPackages } from '@holdfast/testkit/builds/copy-packages'
import { LONG } from '@holdfast/testkit/long-run'
import { inTurn } from '@holdfast/testkit/rotation'
import { expect, test } from 'vitest'
import { seedsInTurn } from '../seeds/seeds-in-turn.fixture.ts'
import { PROMOTION_BUGS, type PromotionBug } from './promotion-bugs.fixture.ts'
import { runSearch, type TimedResult } from './run-search.ts'
import { LONG_SCENARIOS, SHORT_SCENARIOS, scenario } from './scenarios.ts'

const ROOT = join(import.meta.dirname, '../../../..')
const WORKER = 'packages/simulation/src/promotion/search-worker.ts'
/** Code that was searched before needs no more than the first states of each scenario and one missing guard. */
const { few } = seedsInTurn('search')
const LEAST_STATES = few ? 100_000 : LONG ? 10_000_000 : 600_000
/** Ends a search that has outgrown its bounds before it exhausts the memory. */
const MOST_STATES = 4_000_000
const SEARCHED_STATES = few ? 20_000 : MOST_STATES
const MISSING_GUARDS = few ? inTurn('simulation-seeds', PROMOTION_BUGS).slice(0, 1) : PROMOTION_BUGS
const TIMEOUT_MS = LONG ? 3_600_000 : 2_400_000

const show = (name: string, { states, cpuSeconds, broken, exhausted }: TimedResult): string =>
  `${name}: ${states.toLocaleString('en')} states, ${cpuSeconds.toFixed(1)} s of CPU, ${broken ?? (exhausted ? 'clean' : 'clean as far as it went')}`

test(
  'the promotion protocol keeps its guarantees in every state',
  async () => {
    let states = 0
    for (const each of LONG ? LONG_SCENARIOS : SHORT_SCENARIOS) {
      const result = await runSearch(each, { maxStates: SEARCHED_STATES, only: undefined })
      console.log(show(each.name, result))
      expect([result.broken, ...result.trace]).toEqual([undefined])
      states += result.states
    }
    console.log(`${states.toLocaleString('en')} states`)
    expect(states).toBeGreaterThanOrEqual(LEAST_STATES)
  },
  TIMEOUT_MS,
)

test(
  'the search finds each missing guard of the promotion protocol',
  async () => {
    const copy = copyPackages(ROOT)
    const missed: string[] = []
    try {
      for (const bug of MISSING_GUARDS) {
        const result = await searchWith(bug, copy.folder)
        console.log(show(bug.name, result))
        if (result.broken === undefined) missed.push(bug.name)
      }
    } finally {
      copy.remove()
    }
    expect(missed).toEqual([])
  },
  TIMEOUT_MS,
)

/** Searches the copy with the bug, and removes the bug again. */
async function searchWith(bug: PromotionBug, folder: string): Promise<TimedResult> {
  const files = [...new Set(bug.edits.map(({ file }) => join(folder, file)))]
  const before = files.map((file) => readFileSync(file, 'utf8'))
  for (const each of bug.edits) applyEdit(folder, each)
  try {
    const limits = { maxStates: MOST_STATES, only: bug.breaks }
    return await runSearch(scenario(bug.name, bug.bounds), limits, pathToFileURL(join(folder, WORKER)))
  } finally {
    for (const [at, file] of files.entries()) writeFileSync(file, before[at] ?? '')
  }
}

// Each guard of the promotion protocol is needed: without it, the search finds a broken guarantee
// (docs/design/promotion.md#search). CI removes some of the guards in turn.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { applyEdit, copyPackages } from '@holdfast/testkit/builds/copy-packages'
import { inTurn } from '@holdfast/testkit/rotation'
import { expect, test } from 'vitest'
import { seedsInTurn } from '../seeds/seeds-in-turn.fixture.ts'
import { PROMOTION_BUGS, type PromotionBug } from './promotion-bugs.fixture.ts'
import { runSearch, showSearch, type TimedResult } from './run-search.ts'
import { scenario } from './scenarios.ts'

const ROOT = join(import.meta.dirname, '../../../..')
const WORKER = 'packages/simulation/src/promotion/search-worker.ts'
/** Ends a search that has outgrown its bounds before it exhausts the memory. */
const MOST_STATES = 4_000_000
const TIMEOUT_MS = 2_400_000

const { few } = seedsInTurn('missing-guards')
const IN_TURN = inTurn('simulation-seeds', PROMOTION_BUGS)
/** Code whose missing guards were all found before needs one of them. */
const MISSING_GUARDS = few ? IN_TURN.slice(0, 1) : IN_TURN

test(
  'the search finds each missing guard of the promotion protocol',
  async () => {
    console.log(`${MISSING_GUARDS.length} of ${PROMOTION_BUGS.length} guards`)
    expect(MISSING_GUARDS.length).toBeGreaterThan(0)
    const copy = copyPackages(ROOT)
    const missed: string[] = []
    try {
      for (const bug of MISSING_GUARDS) {
        const result = await searchWith(bug, copy.folder)
        console.log(showSearch(bug.name, result))
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

// The promotion protocol keeps its guarantees in every state within the bounds (docs/design/promotion.md#search). CI searches
// everything, unless it has searched exactly this code.

import { LONG } from '@holdfast/testkit/long-run'
import { expect, test } from 'vitest'
import { seedsInTurn } from '../seeds/seeds-in-turn.fixture.ts'
import { runSearch, showSearch } from './run-search.ts'
import { LONG_SCENARIOS, SHORT_SCENARIOS } from './scenarios.ts'

/** Code that was searched before needs no more than the first states of each scenario. */
const { few } = seedsInTurn('search')
const LEAST_STATES = few ? 100_000 : LONG ? 10_000_000 : 600_000
/** Ends a search that has outgrown its bounds before it exhausts the memory. */
const MOST_STATES = few ? 20_000 : 4_000_000
const TIMEOUT_MS = LONG ? 3_600_000 : 2_400_000

test(
  'the promotion protocol keeps its guarantees in every state',
  async () => {
    let states = 0
    for (const each of LONG ? LONG_SCENARIOS : SHORT_SCENARIOS) {
      const result = await runSearch(each, { maxStates: MOST_STATES, only: undefined })
      console.log(showSearch(each.name, result))
      expect([result.broken, ...result.trace]).toEqual([undefined])
      states += result.states
    }
    console.log(`${states.toLocaleString('en')} states`)
    expect(states).toBeGreaterThanOrEqual(LEAST_STATES)
  },
  TIMEOUT_MS,
)

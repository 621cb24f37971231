// The exhaustive search: visits every state within the bounds of a scenario, breadth first, so that the trace to a broken
// guarantee is one of the shortest.

import { findBroken, findBrokenStep, noteAcknowledged } from './check.ts'
import { encodeWorld } from './encode.ts'
import { SeenStates } from './seen-states.ts'
import { visitSuccessors } from './successors.ts'
import { firstWorld, type Scenario, type World } from './world.ts'

export interface SearchResult {
  readonly scenario: string
  readonly states: number
  /** False if the search ended at its limit of states. */
  readonly exhausted: boolean
  readonly broken: string | undefined
  readonly trace: readonly string[]
}

export interface SearchLimits {
  readonly maxStates: number
  /** The only guarantee to check; all of them if undefined. */
  readonly only: string | undefined
}

export function search(scenario: Scenario, { maxStates, only }: SearchLimits): SearchResult {
  const seen = new SeenStates()
  let level: World[] = [firstWorld(scenario)]
  for (const world of level) seen.add(encodeWorld(world), 0, 0)
  let parent = 0
  const end = (broken: string | undefined, exhausted: boolean, ordinal?: number): SearchResult => ({
    scenario: scenario.name,
    states: seen.size,
    exhausted,
    broken,
    trace: ordinal === undefined ? [] : replay(scenario, [...seen.path(parent), ordinal]),
  })
  while (level.length > 0) {
    const next: World[] = []
    for (const world of level) {
      const found = visitState({ world, scenario, seen, parent, next, only })
      if (found !== undefined) return end(found.broken, false, found.ordinal)
      parent += 1
      if (seen.size >= maxStates) return end(undefined, false)
    }
    level = next
  }
  return end(undefined, true)
}

interface Found {
  readonly broken: string
  readonly ordinal: number
}

interface Visited {
  readonly world: World
  readonly scenario: Scenario
  readonly seen: SeenStates
  readonly parent: number
  readonly next: World[]
  readonly only: string | undefined
}

function visitState({ world, scenario, seen, parent, next, only }: Visited): Found | undefined {
  let ordinal = -1
  let found: Found | undefined
  visitSuccessors(world, scenario, (_action, _subject, reached) => {
    ordinal += 1
    const after = noteAcknowledged(reached)
    if (found !== undefined || !seen.add(encodeWorld(after), parent, ordinal)) return
    const broken = findBroken(after) ?? findBrokenStep(world, after)
    if (broken !== undefined && (only ?? broken) === broken) found = { broken, ordinal }
    next.push(after)
  })
  return found
}

/** Names the steps of a path. */
function replay(scenario: Scenario, ordinals: readonly number[]): string[] {
  let world = firstWorld(scenario)
  return ordinals.map((wanted) => {
    let [ordinal, name, next] = [-1, '', world]
    visitSuccessors(world, scenario, (action, subject, reached) => {
      ordinal += 1
      if (ordinal !== wanted) return
      name = `${action} ${typeof subject === 'string' ? subject : JSON.stringify(subject)}`
      next = noteAcknowledged(reached)
    })
    world = next
    return name
  })
}

// Visits every reachable state of a model of rotations and checks that no credential in use becomes invalid. If any one
// guard is removed, the search must find a state in which a credential in use is invalid.

import { describe, expect, test } from 'vitest'
import { successors } from './rotation-model.fixture.ts'
import {
  FIRST_WORLD,
  GUARDS,
  type Guard,
  type Rules,
  type World,
  worldText,
} from './rotation-world.fixture.ts'

/** Describes the broken invariant of a model state; undefined if all invariants are met. */
function fault(world: World, { mistaken = false }: Rules): string | undefined {
  const { versions, store, accepts, rotation } = world
  if (rotation !== undefined && !(store.includes(rotation.old) && accepts.includes(rotation.old)))
    return `an abort would lead back to version ${rotation.old}, which is no longer valid`
  if (!accepts.some((each) => store.includes(each) && versions.includes(each))) return 'no version is valid'
  const present = world.consumers.flatMap((each) => each ?? [])
  for (const { pin, lastGood, slots } of present) {
    const wanted = [
      pin,
      ...(lastGood === undefined ? [] : [lastGood]),
      ...slots.map(({ version }) => version),
    ]
    const lost = wanted.find((each) => !store.includes(each))
    if (lost !== undefined) return `version ${lost} is destroyed and a container has it or is to have it`
  }
  const shutOut = present.filter(({ slots }) =>
    slots.some(({ version, state }) => state !== 'assigned' && !accepts.includes(version)),
  )
  if (shutOut.length > (mistaken ? 1 : 0))
    return `${shutOut.length} consumers have what the target does not accept`
  return undefined
}

interface Walk {
  readonly states: number
  readonly ms: number
  readonly fault?: string
  /** Number of steps from the first state to the broken state. */
  readonly depth: number
}

function walk(rules: Rules): Walk {
  const began = performance.now()
  const seen = new Set([worldText(FIRST_WORLD)])
  let front: World[] = [FIRST_WORLD]
  for (let depth = 1; front.length > 0; depth += 1) {
    const next: World[] = []
    for (const world of front)
      for (const each of successors(world, rules)) {
        const key = worldText(each)
        if (seen.has(key)) continue
        seen.add(key)
        const found = fault(each, rules)
        if (found !== undefined)
          return { states: seen.size, ms: performance.now() - began, fault: found, depth }
        next.push(each)
      }
    front = next
  }
  return { states: seen.size, ms: performance.now() - began, depth: 0 }
}

function report(what: string, { states, ms, fault: found = 'no fault', depth }: Walk): void {
  process.stdout.write(
    `${what}: ${states} states, ${Math.round(ms)} ms, ${found}${depth ? ` after ${depth} steps` : ''}\n`,
  )
}

describe('the rotation keeps its promise in every state with', () => {
  test.each([
    ['two consumers', { maxVersion: 2, joiner: true }],
    ['two consumers, and a target that was not updated', { maxVersion: 2, joiner: true, mistaken: true }],
    ['one consumer, two rotations', { maxVersion: 3 }],
  ] satisfies [string, Rules][])('%s', { timeout: 60_000 }, (what, rules) => {
    const walked = walk(rules)
    report(what, walked)
    expect(walked.fault).toBeUndefined()
    expect(walked.states).toBeGreaterThan(5_000)
  })
})

/** Model settings in which a guard matters: a target that was not updated, two consumers, or a second rotation. */
const WORLDS: { readonly [guard in Guard]?: Partial<Rules> } = {
  'one rotation at a time': { mistaken: true, maxVersion: 3 },
  'retire: every pin is moved': { joiner: true },
  'retire: every replica has proved': { mistaken: true },
  'abort: pins go back first': { joiner: true },
  'cutover: one consumer after another': { mistaken: true, joiner: true },
  'a new consumer is noted in the record': { joiner: true },
}

describe('the rotation breaks its promise without the guard', () => {
  test.each(GUARDS)('%s', { timeout: 60_000 }, (guard) => {
    const walked = walk({ maxVersion: 2, without: guard, ...WORLDS[guard] })
    report(`without "${guard}"`, walked)
    expect(walked.fault).toBeDefined()
  })
})

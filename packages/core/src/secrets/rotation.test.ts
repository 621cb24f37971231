// Tests the phases of one credential's rotation one by one. rotation-model.test.ts tests combinations of steps.

import { describe, expect, test } from 'vitest'
import {
  blockers,
  nextMove,
  nextSteps,
  type Rotating,
  type RotationConsumer,
  type RotationFacts,
  turnRotation,
} from './rotation.ts'

function consumer(name: string, changes: Partial<RotationConsumer> = {}): RotationConsumer {
  return {
    name,
    pin: 1,
    desired: 1,
    held: [1],
    proved: new Map([[1, 1]]),
    leaving: false,
    ...changes,
  }
}
const moved = { pin: 2, held: [2], proved: new Map([[2, 1]]) }

const facts = (
  rotation: Rotating | undefined,
  consumers: readonly RotationConsumer[],
  versions: readonly number[] = [1, 2],
): RotationFacts => ({ rotation, versions, consumers, volumes: [] })

const at = (phase: Rotating['phase'], aborting = false): Rotating => ({
  phase,
  old: 1,
  new: 2,
  ...(aborting ? { aborting } : {}),
})

describe('rotation step stage', () => {
  test('uses the newest unused version and destroys those between', () => {
    const turn = turnRotation(facts(undefined, [consumer('a')], [1, 2, 3, 4]), 'stage')
    expect(turn).toEqual({
      kind: 'turned',
      destroyed: [2, 3],
      rotation: { phase: 'stage', old: 1, new: 4 },
    })
  })

  test('keeps the newest listed version if it brings its own material', () => {
    const turn = turnRotation(facts(undefined, [consumer('a')], [1, 2, 3]), 'stage', 4)
    expect(turn).toMatchObject({ rotation: { new: 4 }, destroyed: [2] })
  })

  test('keeps a version that a container still uses', () => {
    const turn = turnRotation(facts(undefined, [consumer('a', { held: [1, 2] })], [1, 2, 3]), 'stage')
    expect(turn).toMatchObject({ destroyed: [] })
  })

  test('waits for a canary that uses another version, and neither stages nor destroys that version', () => {
    const canary = (...held: readonly number[]) =>
      consumer('a', { held, desired: 0, leaving: true, isCanary: true })
    const turn = (each: RotationConsumer) =>
      turnRotation(facts(undefined, [consumer('a'), each], [1, 2, 3]), 'stage')
    expect(turn(canary(2))).toEqual({
      kind: 'refused',
      blockedBy: ['the canary of a uses version 2 and others 1: promote or abort it first'],
    })
    expect(turn(canary(1)).kind).toBe('turned')
  })

  test('is refused without a newer version or without a single version in use', () => {
    expect(turnRotation(facts(undefined, [consumer('a')], [1]), 'stage')).toEqual({ kind: 'empty' })
    const unused = turnRotation(facts(undefined, [consumer('a', { pin: null })], []), 'stage', 1)
    expect(unused).toMatchObject({ kind: 'refused' })
    const two = facts(undefined, [consumer('a'), consumer('b', { pin: 2 })])
    expect(turnRotation(two, 'stage', 3)).toEqual({
      kind: 'refused',
      blockedBy: ['a uses version 1 and others 2: restart a first'],
    })
    const kept = facts(undefined, [consumer('a', { anchored: true }), consumer('b', { pin: 2 })])
    expect(turnRotation(kept, 'stage', 3)).toMatchObject({
      blockedBy: [expect.stringContaining('a volume depends on it, so use another path for the others')],
    })
    expect(
      turnRotation(facts(undefined, [consumer('a'), consumer('b', { pin: 2, leaving: true })]), 'stage'),
    ).toMatchObject({
      kind: 'turned',
    })
  })
})

test.each([
  [undefined, ['stage']],
  [at('stage'), ['overlap', 'abort']],
  [at('overlap'), ['cutover', 'abort']],
  [at('cutover'), ['retire', 'abort']],
  [at('cutover', true), []],
])('only what follows may be asked for: %j', (rotation, steps) => {
  expect(nextSteps(rotation)).toEqual(steps)
  for (const step of ['stage', 'overlap', 'cutover', 'retire', 'abort', 'idle', ''])
    if (!steps.includes(step))
      expect(turnRotation(facts(rotation, [consumer('a', moved)]), step).kind).toBe('refused')
})

describe('rotation step retire', () => {
  const given = (changes: Partial<RotationConsumer>) =>
    facts(at('cutover'), [consumer('a', moved), consumer('b', { ...moved, ...changes })])

  test('destroys the old version when every consumer has proved the new one', () => {
    expect(turnRotation(given({}), 'retire')).toEqual({ kind: 'turned', rotation: undefined, destroyed: [1] })
  })

  test.each<[string, Partial<RotationConsumer>]>([
    ['b has not moved to version 2 yet', { pin: 1 }],
    ['b still uses version 1 or may roll back to it', { held: [1, 2] }],
    ['b has proved version 2 on 1 of 2 replicas', { desired: 2 }],
    ['b has proved version 2 on 0 of 1 replicas', { proved: new Map([[1, 1]]) }],
    [
      'b no longer refers to it, but a container still uses version 1',
      { pin: null, held: [1], leaving: true },
    ],
    [
      'b still uses version 1: wait until it ends, or cancel it',
      { pin: 1, held: [1], desired: 0, leaving: true, isJob: true },
    ],
    [
      'the canary of b still uses version 1: promote or abort it',
      { pin: 1, held: [1], desired: 0, leaving: true, isCanary: true },
    ],
  ])('waits: %s', (text, changes) => {
    expect(turnRotation(given(changes), 'retire')).toEqual({ kind: 'refused', blockedBy: [text] })
    expect(blockers(given(changes))).toEqual([text])
  })

  test('does not wait for a stopped or deleted consumer', () => {
    expect(turnRotation(given({ desired: 0, held: [], proved: new Map() }), 'retire').kind).toBe('turned')
    expect(turnRotation(given({ pin: 1, held: [], leaving: true }), 'retire').kind).toBe('turned')
  })
})

describe('rotation step abort', () => {
  test('destroys the new version at once if no consumer uses it', () => {
    for (const phase of ['stage', 'overlap'] as const)
      expect(turnRotation(facts(at(phase), [consumer('a')]), 'abort')).toEqual({
        kind: 'turned',
        rotation: undefined,
        destroyed: [2],
      })
  })

  test('rolls back first if a consumer uses the new version, in any phase', () => {
    for (const phase of ['stage', 'overlap', 'cutover'] as const)
      expect(turnRotation(facts(at(phase), [consumer('a', { pin: 2 })]), 'abort')).toEqual({
        kind: 'turned',
        rotation: at('cutover', true),
        pin: 1,
        destroyed: [],
      })
  })
})

describe('the rotation controller', () => {
  test('moves the requesting deployment first, then the others in order, each when the previous ones serve', () => {
    const a = consumer('a')
    const b = consumer('b')
    expect(nextMove(facts(at('cutover'), [a, b]), 'b')).toEqual({ kind: 'pin', consumers: ['b'], version: 2 })
    expect(nextMove(facts(at('cutover'), [a, consumer('b', { pin: 2 })]), 'b')).toBeUndefined()
    expect(
      nextMove(facts(at('cutover'), [a, consumer('b', { ...moved, held: [1, 2] })]), 'b'),
    ).toBeUndefined()
    expect(nextMove(facts(at('cutover'), [a, consumer('b', moved)]), 'b')).toEqual({
      kind: 'pin',
      consumers: ['a'],
      version: 2,
    })
    expect(nextMove(facts(at('cutover'), [consumer('a', moved), consumer('b', moved)]), 'b')).toBeUndefined()
    expect(nextMove(facts(at('cutover'), [consumer('a', { leaving: true })]), 'a')).toBeUndefined()
    expect(nextMove(facts(at('overlap'), [a]), 'a')).toBeUndefined()
  })

  test('moves all consumers back at once and ends when none uses the new version', () => {
    const back = at('cutover', true)
    const both = [consumer('a', moved), consumer('b', { pin: 2 }), consumer('c')]
    expect(nextMove(facts(back, both), 'a')).toEqual({ kind: 'pin', consumers: ['a', 'b'], version: 1 })
    expect(nextMove(facts(back, [consumer('a', { held: [1, 2] })]), 'a')).toBeUndefined()
    expect(nextMove(facts(back, [consumer('a', { ...moved, leaving: true })]), 'a')).toBeUndefined()
    expect(nextMove(facts(back, [consumer('a')]), 'a')).toEqual({ kind: 'end', destroyed: [2] })
  })
})

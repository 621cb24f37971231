import type { Decision } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { decisionAt, stopOf, timeOfStop } from './stops.ts'

const decision = (minute: number): Decision => ({
  at: `2026-11-18T14:0${minute}:00.000Z`,
  phase: 'Running',
  reason: '',
  revision: minute,
  summary: '',
})
const DECISIONS = [decision(5), decision(3), decision(1)]

test.each([
  ['14:00:30', undefined, 0],
  ['14:01:00', 1, 0],
  ['14:04:59', 3, 1],
  ['14:09:00', 5, 2],
])('at %s the decision of minute %s is in force, stop %s', (clock, revision, stop) => {
  const at = `2026-11-18T${clock}.000Z`
  expect(decisionAt(DECISIONS, at)?.revision).toBe(revision)
  expect(stopOf(DECISIONS, at)).toBe(stop)
})

test('now is the stop after the newest decision', () => {
  expect(stopOf(DECISIONS, undefined)).toBe(3)
  expect(timeOfStop(DECISIONS, 3)).toBeUndefined()
})

test('each stop leads to its decision and back', () => {
  for (const { at } of DECISIONS) expect(timeOfStop(DECISIONS, stopOf(DECISIONS, at))).toBe(at)
})

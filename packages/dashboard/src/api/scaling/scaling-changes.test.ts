import { expect, test } from 'vitest'
import { policyChanges } from './scaling-changes.ts'

const POLICY = { min: 2, max: 10, metric: 'cpu', targetPercent: 60, scaleDownDelay: '300s' } as const

test('only the fields that differ are changes', () =>
  expect(policyChanges(POLICY, { ...POLICY, max: 20 })).toEqual([{ field: 'max', from: 10, to: 20 }]))

test('a new policy changes every field, and an equal one none', () => {
  expect(policyChanges(undefined, POLICY)).toHaveLength(5)
  expect(policyChanges(POLICY, POLICY)).toEqual([])
})

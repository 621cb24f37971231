import type { Decision } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { marksOf } from './revision-marks.ts'

const decision = (revision: number, reason = ''): Decision => ({
  at: '2026-11-18T14:05:00.000Z',
  phase: reason === '' ? 'Running' : 'Degraded',
  reason,
  revision,
  summary: '',
})

const failure = { revision: 3, replica: 1, reason: 'unhealthy', at: '2026-11-18T14:05:00.000Z' }

test('a paused update is the latest and failed, and the revision before runs and is the last good one', () => {
  const known = { latest: 3, status: { runningRevision: 2, lastGoodRevision: 2, failure }, decisions: [] }
  expect([3, 2, 1].map((revision) => marksOf(revision, known))).toEqual([
    ['latest', 'failed'],
    ['running', 'lastGood'],
    [],
  ])
})

test('a revision that failed keeps its mark after another one is stored', () => {
  const known = { latest: 3, decisions: [decision(3), decision(2, 'rollback'), decision(2, 'rollout')] }
  expect(marksOf(2, known)).toEqual(['failed'])
  expect(marksOf(3, known)).toEqual(['latest'])
})

test('only the last decision about a revision counts', () => {
  expect(marksOf(2, { latest: 3, decisions: [decision(2), decision(2, 'update_paused')] })).toEqual([])
})

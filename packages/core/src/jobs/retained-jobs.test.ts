import { asJobId } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { jobsToRemove } from './retained-jobs.ts'

const NOW = Date.parse('2026-01-10T00:00:00.000Z')
const DAY_MS = 24 * 3_600_000
const job = (name: string, ageMs: number) => ({
  id: asJobId(`job_${name}`),
  finishedAt: new Date(NOW - ageMs).toISOString(),
})

test('removes jobs that ended more than 7 days ago', () => {
  const finished = [job('old', 7 * DAY_MS + 1), job('week', 7 * DAY_MS), job('new', 0)]
  expect(jobsToRemove(finished, NOW)).toEqual(['job_old'])
})

test('keeps the 1,000 jobs that ended last', () => {
  const finished = Array.from({ length: 1003 }, (_, index) => job(String(index), 1000 - index))
  expect(jobsToRemove(finished, NOW)).toEqual(['job_2', 'job_1', 'job_0'])
})

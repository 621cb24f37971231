// How the CI step judges which values of a vocabulary the tests received.

import { expect, test } from 'vitest'
import { judgeVocabulary, readRecord } from '../../scripts/ci/judge-received.ts'

const RECORD = readRecord(
  [
    'event type\tjob.created\tb.test.ts',
    'event type\tjob.created\ta.test.ts',
    'filter\tquota\ta.test.ts',
    '',
  ].join('\n'),
)
const below = { value: 'job.failed', why: 'no request causes it', test: 'c.test.ts' }

test('names the files in which a value was received, once each', () => {
  const { lines, missing } = judgeVocabulary('event type', ['job.created'], RECORD, [])
  expect(lines[0]).toBe('event type: 1 of 1 received over HTTP')
  expect(lines[1]).toMatch(/job\.created +a\.test\.ts and 1 more$/)
  expect(missing).toEqual([])
})

test('a value that was never received is missing, also if another vocabulary has it', () => {
  const { lines, missing } = judgeVocabulary('event type', ['job.created', 'quota'], RECORD, [])
  expect(lines[2]).toMatch(/quota +NEVER RECEIVED$/)
  expect(missing).toEqual(['quota'])
})

test('a value that only a test below the API produces is listed with its reason', () => {
  const { lines, missing } = judgeVocabulary('event type', ['job.failed'], RECORD, [below])
  expect(lines[1]).toMatch(/job\.failed +not over HTTP: no request causes it; c\.test\.ts$/)
  expect(missing).toEqual([])
})

test('an exemption of a received value is reported, so that the list of exemptions stays true', () => {
  const { unexpected } = judgeVocabulary('event type', ['job.created'], RECORD, [
    { ...below, value: 'job.created' },
  ])
  expect(unexpected).toEqual(['job.created'])
})

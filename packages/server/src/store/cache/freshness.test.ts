import { expect, test } from 'vitest'
import type { KeyValueEngine } from '../../ports/key-value.ts'
import { createCurrentRevision } from './freshness.ts'

/** A simulated etcd client whose reads are answered by the test. */
function handMade() {
  const reads: ((outcome: number | Error) => void)[] = []
  const range = (() =>
    new Promise((resolve, reject) => {
      reads.push((outcome) =>
        outcome instanceof Error
          ? reject(outcome)
          : resolve({ revision: outcome, kvs: [], more: false, count: 0 }),
      )
    })) as KeyValueEngine['range']
  return { reads, current: createCurrentRevision({ range }, '/probe/') }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('starts a new read for a call that arrives while one runs', async () => {
  const { reads, current } = handMade()
  const [early, late] = [current(), current()]
  expect(reads).toHaveLength(1)
  reads[0]?.(1)
  expect(await early).toBe(1)
  await settled()
  expect(reads).toHaveLength(2)
  reads[1]?.(2)
  expect(await late).toBe(2)
})

test('shares the next read among all calls that arrive while one runs', async () => {
  const { reads, current } = handMade()
  void current()
  const late = Array.from({ length: 100 }, () => current())
  reads[0]?.(1)
  await settled()
  const later = current()
  reads[1]?.(2)
  expect(new Set(await Promise.all(late))).toEqual(new Set([2]))
  await settled()
  expect(reads).toHaveLength(3)
  reads[2]?.(3)
  expect(await later).toBe(3)
})

test('fails only the calls that shared a failed read', async () => {
  const { reads, current } = handMade()
  const [early, late] = [current(), current()]
  const rejected = expect(early).rejects.toThrow('away')
  reads[0]?.(new Error('away'))
  await rejected
  await settled()
  reads[1]?.(2)
  expect(await late).toBe(2)
  const again = current()
  expect(reads).toHaveLength(3)
  reads[2]?.(3)
  expect(await again).toBe(3)
})

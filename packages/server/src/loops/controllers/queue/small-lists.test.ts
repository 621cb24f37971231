// Tests the lists of waiting dependents and delayed keys, and the filter for observations that can change a plan.

import { describe, expect, test } from 'vitest'
import { createDelayedQueue } from './delayed-queue.ts'
import { createDependents } from './dependents.ts'
import { createObservationDedup } from './observation-dedup.ts'

test('a change of a dependency requeues exactly its dependents', () => {
  const dependents = createDependents()
  dependents.wait('web', ['db', 'cache'])
  dependents.wait('job', ['db'])
  expect(dependents.waitingFor('db')).toEqual(['job', 'web'])
  dependents.wait('web', ['cache'])
  expect(dependents.waitingFor('db')).toEqual(['job'])
  dependents.forget('job')
  dependents.forget('job')
  expect(dependents.waitingFor('db')).toEqual([])
  expect(dependents.waitingFor('cache')).toEqual(['web'])
})

test('a delayed key is returned once, at its newest time', () => {
  const due = createDelayedQueue()
  due.note('a', 10)
  due.note('b', 20)
  due.note('c', 10)
  due.note('c', undefined)
  due.note('b', 15)
  expect(due.removeDue(9)).toEqual([])
  expect(due.removeDue(15)).toEqual(['a', 'b'])
  expect(due.removeDue(100)).toEqual([])
})

describe('an observation can change a decision', () => {
  const seen = { state: 'starting' as const, reason: '', restarts: 0, gone: false }

  test('not while a container is starting', () => {
    const dedup = createObservationDedup()
    for (const state of ['pulling', 'starting', 'running'] as const)
      expect(dedup.isNews('rep_1', { ...seen, state })).toBe(false)
    expect(dedup.isNews('rep_1', { ...seen, state: 'ready' })).toBe(true)
    expect(dedup.isNews('rep_1', { ...seen, state: 'ready' })).toBe(false)
  })

  test.each([
    ['a problem', { reason: 'image_pull_failed' }],
    ['another unresolved secret', { about: 'DB: denied' }],
    ['an exit', { restarts: 1 }],
    ['a failure of the node', { nodeFailures: 3 }],
    ['a removal', { gone: true }],
    ['readiness', { state: 'ready' as const }],
    ['a failure', { state: 'failed' as const }],
  ])('when it reports %s, and when that is over', (_what, changes) => {
    const dedup = createObservationDedup()
    expect(dedup.isNews('rep_1', { ...seen, ...changes })).toBe(true)
    expect(dedup.isNews('rep_1', seen)).toBe(true)
    expect(dedup.isNews('rep_1', { ...seen, ...changes })).toBe(true)
    dedup.forget('rep_1')
    expect(dedup.isNews('rep_1', seen)).toBe(false)
  })
})

// Who waits for whom, who is due when, and which report is worth a look.

import { describe, expect, test } from 'vitest'
import { createDelayedQueue } from './delayed-queue.ts'
import { createDependents } from './dependents.ts'
import { createObservationDedup } from './observation-dedup.ts'

test('a change wakes exactly those that wait for it', () => {
  const dependents = createDependents()
  dependents.wait('web', ['db', 'cache'])
  dependents.wait('job', ['db'])
  expect(dependents.waitingFor('db')).toEqual(['web', 'job'])
  dependents.wait('web', ['cache'])
  expect(dependents.waitingFor('db')).toEqual(['job'])
  dependents.forget('job')
  dependents.forget('job')
  expect(dependents.waitingFor('db')).toEqual([])
  expect(dependents.waitingFor('cache')).toEqual(['web'])
})

test('who is due is told once, the newest word counts', () => {
  const due = createDelayedQueue()
  due.note('a', 10)
  due.note('b', 20)
  due.note('c', 10)
  due.note('c', undefined)
  due.note('b', 15)
  expect(due.take(9)).toEqual([])
  expect(due.take(15)).toEqual(['a', 'b'])
  expect(due.take(100)).toEqual([])
})

describe('a report is worth a look', () => {
  const seen = { state: 'starting' as const, reason: '', restarts: 0, gone: false }

  test('not while a container is on its way', () => {
    const sightings = createObservationDedup()
    for (const state of ['pulling', 'starting', 'running'] as const)
      expect(sightings.isNews('rep_1', { ...seen, state })).toBe(false)
    expect(sightings.isNews('rep_1', { ...seen, state: 'ready' })).toBe(true)
    expect(sightings.isNews('rep_1', { ...seen, state: 'ready' })).toBe(false)
  })

  test.each([
    ['trouble', { reason: 'image_pull_failed' }],
    ['another secret that is not to be had', { about: 'DB: denied' }],
    ['an exit', { restarts: 1 }],
    ['being gone', { gone: true }],
    ['being ready', { state: 'ready' as const }],
    ['having failed', { state: 'failed' as const }],
  ])('when it tells of %s, and when that is over', (_what, changes) => {
    const sightings = createObservationDedup()
    expect(sightings.isNews('rep_1', { ...seen, ...changes })).toBe(true)
    expect(sightings.isNews('rep_1', seen)).toBe(true)
    expect(sightings.isNews('rep_1', { ...seen, ...changes })).toBe(true)
    sightings.forget('rep_1')
    expect(sightings.isNews('rep_1', seen)).toBe(false)
  })
})

import type { ChangedRecord } from '@holdfast/contract'
import { expect, test, vi } from 'vitest'
import { createGatherer, joinChanges } from './gather-changes.ts'
import type { Changed } from './live-connection.ts'

const record = (uid: string): ChangedRecord => ({ resource: 'nodes', name: uid, uid })
const some = (...uids: string[]): Changed => ({ kind: 'some', items: uids.map(record) })

function gathering() {
  const flushed: Changed[] = []
  const waiting: (() => void)[] = []
  const gatherer = createGatherer({
    flush: async (changed) => void flushed.push(changed),
    wait: () => new Promise<void>((resolve) => waiting.push(resolve)),
  })
  return { flushed, gatherer, pass: () => waiting.shift()?.() }
}

test('the first change is passed on at once, later ones together after the pause', async () => {
  const { flushed, gatherer, pass } = gathering()
  gatherer.add(some('a'))
  gatherer.add(some('b'))
  gatherer.add(some('b', 'c'))
  expect(flushed).toEqual([some('a')])
  pass()
  await vi.waitFor(() => expect(flushed).toEqual([some('a'), some('b', 'c')]))
})

test('a batch waits for the reads of the batch before', async () => {
  const ends: (() => void)[] = []
  const flush = vi.fn(() => new Promise<void>((resolve) => ends.push(resolve)))
  const gatherer = createGatherer({ flush, wait: () => Promise.resolve() })
  gatherer.add(some('a'))
  gatherer.add(some('b'))
  await new Promise((resolve) => setTimeout(resolve))
  expect(flush).toHaveBeenCalledTimes(1)
  ends.shift()?.()
  await vi.waitFor(() => expect(flush).toHaveBeenCalledTimes(2))
})

test('a failed read does not end the gathering', async () => {
  const flush = vi.fn(() => Promise.reject(new Error('unreachable')))
  const gatherer = createGatherer({ flush, wait: () => Promise.resolve() })
  gatherer.add(some('a'))
  await new Promise((resolve) => setTimeout(resolve))
  gatherer.add(some('b'))
  await vi.waitFor(() => expect(flush).toHaveBeenCalledTimes(2))
})

test('a paused gatherer keeps changes until it is resumed', () => {
  const { flushed, gatherer } = gathering()
  gatherer.pause(true)
  gatherer.add(some('a'))
  expect(flushed).toEqual([])
  gatherer.pause(false)
  expect(flushed).toEqual([some('a')])
})

test('too many records, or a resync, are a change of everything', () => {
  const many = Array.from({ length: 501 }, (_, at) => `n${at}`)
  expect(joinChanges(some('a'), some(...many))).toEqual({ kind: 'all' })
  expect(joinChanges(some('a'), { kind: 'all' })).toEqual({ kind: 'all' })
})

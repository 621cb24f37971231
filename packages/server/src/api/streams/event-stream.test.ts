// Backpressure of an event stream: buffer size for a slow reader, disconnection of a stalled reader, and no missed event.

import type { ListedEvent } from '@holdfast/contract'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { EventFollower, FollowedPart } from '../../operations/events/follow-events.ts'
import { openEventStream } from './event-stream.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const event = (cursor: string, bytes = 0): FollowedPart => ({
  kind: 'event',
  event: { cursor, type: 'node.ready', data: 'x'.repeat(bytes) } as unknown as ListedEvent,
})

interface Source extends EventFollower {
  taken: number
  closed: boolean
  waiting: FollowedPart[]
  failing: boolean
}

/** A fake event source that returns one element of `waiting` per read. */
function sourceOf(waiting: FollowedPart[]): Source {
  const source: Source = {
    taken: 0,
    closed: false,
    failing: false,
    waiting,
    reached: '7-0',
    async take() {
      if (source.failing) throw new Error('the store is unavailable')
      source.taken += 1
      const next = source.waiting.shift()
      return { parts: next === undefined ? [] : [next], more: source.waiting.length > 0 }
    },
    close() {
      source.closed = true
    },
  }
  return source
}

const settle = () => vi.advanceTimersByTimeAsync(0)

test('an event stream buffers at most the read-ahead and one part for a reader that reads nothing', async () => {
  const source = sourceOf(Array.from({ length: 1000 }, (_, at) => event(`${at}-0`, 10_000)))
  const { stream } = openEventStream(source)
  stream.read(0)
  await vi.advanceTimersByTimeAsync(30_000)
  expect(stream.readableLength).toBeLessThan(64 * 1024 + 11_000)
  expect(source.taken).toBeLessThan(9)
  // After a minute without a read the reader is disconnected and the event source is closed.
  await vi.advanceTimersByTimeAsync(45_000)
  expect([stream.destroyed, source.closed]).toEqual([true, true])
})

test('an event stream keeps a slow reader connected as long as it reads', async () => {
  const source = sourceOf(Array.from({ length: 1000 }, (_, at) => event(`${at}-0`, 10_000)))
  const { stream } = openEventStream(source)
  for (let turn = 0; turn < 20; turn += 1) {
    stream.read(20_000)
    await vi.advanceTimersByTimeAsync(15_000)
  }
  expect(stream.destroyed).toBe(false)
  stream.destroy()
})

test('an event stream delivers an event that arrives during a read, and one that arrives while it is idle', async () => {
  const source = sourceOf([])
  const { stream, arrived } = openEventStream(source)
  let text = ''
  stream.on('data', (chunk) => {
    text += chunk
  })
  // The first read of the event source is pending while an event arrives, and then returns no event.
  const { take } = source
  let release = () => {}
  source.take = () =>
    new Promise((resolve) => {
      release = () => resolve({ parts: [], more: false })
    })
  await settle()
  source.waiting.push(event('8-0'))
  arrived()
  source.take = take
  release()
  await settle()
  expect(text).toContain('id: 8-0\nevent: node.ready\ndata: {"cursor":"8-0"')
  source.waiting.push(event('9-0'))
  arrived()
  await settle()
  expect(text).toContain('id: 9-0')
  stream.destroy()
})

test('an event stream retries an unavailable store, and its heartbeats carry the position until then', async () => {
  const source = sourceOf([event('8-0')])
  source.failing = true
  const { stream } = openEventStream(source)
  let text = ''
  stream.on('data', (chunk) => {
    text += chunk
  })
  await vi.advanceTimersByTimeAsync(15_000)
  expect(text).toBe('retry: 1000\nid: 7-0\n\n: still here\nid: 7-0\n\n')
  source.failing = false
  await vi.advanceTimersByTimeAsync(1_000)
  expect(text).toContain('id: 8-0')
  stream.destroy()
})

test('an event stream ends once and sends nothing afterwards', async () => {
  const source = sourceOf([])
  const { stream, end, arrived } = openEventStream(source)
  let text = ''
  stream.on('data', (chunk) => {
    text += chunk
  })
  const failed = vi.fn()
  stream.on('error', failed)
  await settle()
  end()
  end()
  source.waiting.push(event('8-0'))
  arrived()
  await vi.advanceTimersByTimeAsync(30_000)
  expect(text.endsWith(': stream ended by the server\n\n')).toBe(true)
  expect([failed.mock.calls, source.closed]).toEqual([[], true])
})

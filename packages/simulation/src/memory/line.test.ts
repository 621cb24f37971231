// Faults that a simulation can inject between a server and the store: delays, refusals, lost requests and lost answers.

import { EngineError, type KeyValueEngine } from '@holdfast/server/ports/key-value'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { put, recordWatch, unconditionally, under, write } from '../conformance/fixtures.ts'
import { connectMemory } from './connect-memory.ts'
import { createMemoryKeyspace, type KeyWrite } from './keyspace.ts'
import type { LineFault } from './line.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Follows a call to the store and returns an object whose `outcome` is the call's current state or result. */
function follow(call: Promise<{ revision: number }>): { outcome: string } {
  const followed = { outcome: 'open' }
  call.then(
    ({ revision }) => {
      followed.outcome = `revision ${revision}`
    },
    (error: unknown) => {
      followed.outcome =
        error instanceof EngineError ? `${error.reason}, applied: ${error.applied}` : 'a fault'
    },
  )
  return followed
}

const writeSoon = (engine: KeyValueEngine, deadlineMs = 1_000) =>
  follow(engine.transact(unconditionally(put('/a/')), { deadlineMs }))
const readSoon = (engine: KeyValueEngine, deadlineMs = 1_000) =>
  follow(engine.range({ key: '/a/' }, { deadlineMs }))
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

function connected(fault: LineFault, delayMs = 0) {
  const keyspace = createMemoryKeyspace()
  return { keyspace, engine: connectMemory(keyspace, { fault: () => fault, delayMs: () => delayMs }) }
}

describe('a call', () => {
  test('takes effect and is answered in a later turn than the call', async () => {
    const { keyspace, engine } = connected('none')
    const one = writeSoon(engine)
    await Promise.resolve()
    expect([keyspace.revision, one.outcome]).toEqual([1, 'open'])
    await pass(0)
    expect([keyspace.revision, one.outcome]).toEqual([2, 'revision 2'])
  })

  test('takes effect half way over a slow line', async () => {
    const { keyspace, engine } = connected('none', 100)
    const one = writeSoon(engine)
    await pass(49)
    expect(keyspace.revision).toBe(1)
    await pass(1)
    expect([keyspace.revision, one.outcome]).toEqual([2, 'open'])
    await pass(50)
    expect(one.outcome).toBe('revision 2')
  })

  test('fails at its deadline and still takes effect', async () => {
    const { keyspace, engine } = connected('none', 3_000)
    const [one, read] = [writeSoon(engine), readSoon(engine)]
    await pass(999)
    expect(one.outcome).toBe('open')
    await pass(1)
    expect([one.outcome, read.outcome]).toEqual(['deadline, applied: unknown', 'deadline, applied: no'])
    expect(keyspace.revision).toBe(1)
    await pass(500)
    expect(keyspace.revision).toBe(2)
  })

  test('has a deadline of five seconds unless it names one', async () => {
    const { engine } = connected('lose_request')
    const one = follow(engine.transact(unconditionally(put('/a/'))))
    await pass(4_999)
    expect(one.outcome).toBe('open')
    await pass(1)
    expect(one.outcome).toBe('deadline, applied: unknown')
  })
})

describe('faults', () => {
  test.each([
    ['refuse', 'unavailable, applied: no', 'unavailable, applied: no', 1],
    ['lose_request', 'deadline, applied: unknown', 'deadline, applied: no', 1],
    ['lose_answer', 'unavailable, applied: unknown', 'unavailable, applied: no', 2],
  ] as const)('%s', async (fault, ofWrite, ofRead, revision) => {
    const { keyspace, engine } = connected(fault)
    const [one, read] = [writeSoon(engine), readSoon(engine)]
    expect(one.outcome).toBe('open')
    await pass(1_000)
    expect([one.outcome, read.outcome, keyspace.revision]).toEqual([ofWrite, ofRead, revision])
  })

  test('a lost answer may be a refusal', async () => {
    const { engine } = connected('lose_answer')
    const one = follow(engine.transact(unconditionally(put('/a/'), put('/a/'))))
    await pass(0)
    expect(one.outcome).toBe('unavailable, applied: unknown')
  })

  test('faults are drawn for each call by its kind', async () => {
    const keyspace = createMemoryKeyspace()
    const calls: string[] = []
    const fault = (call: string) => {
      calls.push(call)
      return 'none' as const
    }
    const engine = connectMemory(keyspace, { fault })
    await pass(0)
    const asked = [engine.range({ key: '/a/' }), write(engine, '/a/'), engine.compact(2), engine.status()]
    await pass(0)
    await Promise.all(asked)
    expect(calls).toEqual(['range', 'transact', 'transact', 'range'])
  })
})

describe('a connection that is closed', () => {
  test('accepts no new calls, and drops the answers of calls under way', async () => {
    const { keyspace, engine } = connected('none', 100)
    const before = writeSoon(engine)
    engine.close()
    const after = writeSoon(engine)
    await pass(100)
    expect([before.outcome, after.outcome]).toEqual([
      'unavailable, applied: unknown',
      'unavailable, applied: no',
    ])
    expect(keyspace.revision).toBe(2)
  })

  test('delivers nothing to its own watches, and everything to others', async () => {
    const keyspace = createMemoryKeyspace()
    const [closed, open] = [connectMemory(keyspace), connectMemory(keyspace)]
    const watches = [recordWatch(closed, under('/'), 2), recordWatch(open, under('/'), 2)]
    await pass(0)
    closed.close()
    keyspace.transact(unconditionally(put('/a/')))
    await pass(0)
    expect(watches.map((watch) => watch.events().length)).toEqual([0, 1])
  })
})

describe('a watch', () => {
  const lineOf = () => {
    const line = { cut: false, delayMs: 0 }
    const keyspace = createMemoryKeyspace()
    const engine = connectMemory(keyspace, {
      fault: (call) => (line.cut && call === 'watch' ? 'lose_request' : 'none'),
      delayMs: () => line.delayMs,
    })
    const happen = (key: string) => keyspace.transact(unconditionally(put(key)))
    return { line, keyspace, happen, watch: recordWatch(engine, under('/'), 2) }
  }

  test('delivers nothing while it is cut off, and then everything once', async () => {
    const { line, happen, watch } = lineOf()
    happen('/a/')
    await pass(1)
    line.cut = true
    happen('/b/')
    happen('/c/')
    watch.requestProgress()
    await pass(10_000)
    expect([watch.story(), watch.progress]).toEqual([['put /a/='], []])
    line.cut = false
    await pass(50)
    expect([watch.story(), watch.progress]).toEqual([['put /a/=', 'put /b/=', 'put /c/='], [4]])
  })

  test('reports the end of its history if that was compacted while it was cut off', async () => {
    const { line, keyspace, happen, watch } = lineOf()
    await pass(0)
    line.cut = true
    happen('/a/')
    await pass(0)
    happen('/b/')
    keyspace.compact(3)
    line.cut = false
    await pass(50)
    happen('/c/')
    await pass(50)
    expect([watch.story(), watch.compacted]).toEqual([[], [3]])
  })

  test('loses what was under way with its connection, and sends it again', async () => {
    const { line, keyspace, happen, watch } = lineOf()
    await pass(0)
    line.delayMs = 100
    happen('/a/')
    happen('/b/')
    keyspace.compact(2)
    line.cut = true
    await pass(100)
    line.cut = false
    await pass(50)
    expect([watch.story(), watch.compacted]).toEqual([['put /a/=', 'put /b/='], []])
  })

  test('delivers late and in order over a slow line, and survives a compaction', async () => {
    const { line, keyspace, happen, watch } = lineOf()
    await pass(0)
    line.delayMs = 100
    happen('/a/')
    await pass(99)
    happen('/b/')
    keyspace.compact(3)
    expect(watch.story()).toEqual([])
    await pass(1)
    expect([watch.story(), watch.compacted]).toEqual([['put /a/=', 'put /b/='], []])
  })

  test('delivers over a slow line the state of the sending time, and the rest with the next message', async () => {
    const { line, happen, watch } = lineOf()
    await pass(0)
    line.delayMs = 100
    happen('/a/')
    await pass(50)
    happen('/b/')
    await pass(50)
    expect(watch.story()).toEqual(['put /a/='])
    await pass(100)
    expect(watch.story()).toEqual(['put /a/=', 'put /b/='])
  })

  test('delivers no bookmark after it closes itself on an event', async () => {
    const { keyspace, happen } = lineOf()
    happen('/a/')
    const progress: number[] = []
    const watch = connectMemory(keyspace).watch({
      ...under('/'),
      startRevision: 2,
      onEvents: () => watch.close(),
      onProgress: (revision) => progress.push(revision),
      onCompacted: () => {},
    })
    watch.requestProgress()
    await pass(1_000)
    expect(progress).toEqual([])
  })
})

test('reports every write to a listener, in order, until it unsubscribes', () => {
  const keyspace = createMemoryKeyspace()
  const writes: KeyWrite[] = []
  const stop = keyspace.onWrite((one) => writes.push(one))
  keyspace.transact(unconditionally(put('/b/', 'x'), put('/a/', 'y')))
  keyspace.transact(unconditionally({ kind: 'delete', key: '/b/' }))
  stop()
  keyspace.transact(unconditionally(put('/c/')))
  expect(writes.map(({ bytes, ...one }) => ({ ...one, bytes: Buffer.from(bytes).toString() }))).toEqual([
    { kind: 'put', key: '/b/', revision: 2, bytes: 'x' },
    { kind: 'put', key: '/a/', revision: 2, bytes: 'y' },
    { kind: 'delete', key: '/b/', revision: 3, bytes: '' },
  ])
})

test('copies a buffer, so that the caller may reuse it', () => {
  const keyspace = createMemoryKeyspace()
  const value = Buffer.from('before')
  keyspace.transact(unconditionally(put('/a/', value)))
  value.write('after!')
  expect(Buffer.from(keyspace.range({ key: '/a/' }).kvs[0]?.value ?? []).toString()).toBe('before')
})

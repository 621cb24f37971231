import { expect, test } from 'vitest'
import { initialState, isDead, isStale, type LiveEvent, type LiveState, nextState } from './live-state.ts'

const after = (...events: readonly (readonly [number, LiveEvent])[]): LiveState =>
  events.reduce((state, [now, event]) => nextState(state, event, now), initialState(0))
const heard = { kind: 'heard' } as const
const cut = { kind: 'cut', reason: 'the connection was reset' } as const
const tick = { kind: 'tick' } as const

test('a message makes the page live', () => {
  expect(after([5, heard])).toEqual({ kind: 'live', heardAt: 5 })
})

test('a cut stream is reconnecting and keeps the time of the last message', () => {
  expect(after([5, heard], [9, cut])).toEqual({
    kind: 'reconnecting',
    since: 9,
    heardAt: 5,
    reason: 'the connection was reset',
  })
})

test('repeated cuts count from the first', () => {
  expect(after([5, heard], [9, cut], [2_000, cut])).toMatchObject({ since: 9, heardAt: 5 })
})

test('a stream that stays closed for ten seconds is offline, and a message ends that', () => {
  expect(after([0, heard], [1_000, cut], [10_999, tick])).toMatchObject({ kind: 'reconnecting' })
  expect(after([0, heard], [1_000, cut], [11_000, tick])).toMatchObject({ kind: 'offline', since: 1_000 })
  expect(after([0, heard], [1_000, cut], [11_000, tick], [12_000, cut])).toMatchObject({ kind: 'offline' })
  expect(after([0, heard], [1_000, cut], [11_000, tick], [12_000, heard])).toMatchObject({ kind: 'live' })
})

test('a lost network is offline at once, and a found one reconnects', () => {
  expect(after([0, heard], [50, { kind: 'network-lost' }])).toMatchObject({ kind: 'offline', since: 50 })
  expect(after([0, heard], [50, { kind: 'network-lost' }], [60, { kind: 'network-found' }])).toMatchObject({
    kind: 'reconnecting',
    since: 50,
  })
})

test('a refused sign-in is final', () => {
  expect(after([0, heard], [1, { kind: 'refused' }], [2, heard])).toEqual({ kind: 'signed-out' })
})

test('an open stream without a message is reconnecting before two seconds have passed', () => {
  expect(after([0, heard], [1_699, tick])).toEqual({ kind: 'live', heardAt: 0 })
  const silent = after([0, heard], [1_700, tick])
  expect(silent).toMatchObject({ kind: 'reconnecting', since: 1_700, heardAt: 0 })
  expect([isDead(silent, 7_699), isDead(silent, 7_700)]).toEqual([false, true])
  expect(nextState(silent, heard, 1_800)).toEqual({ kind: 'live', heardAt: 1_800 })
})

test('data is old before two seconds without a message, at once without a network, and not while it opens', () => {
  expect(isStale(after([0, heard]), 60_000)).toBe(false)
  const broken = after([0, heard], [1_000, cut])
  expect([isStale(broken, 1_699), isStale(broken, 1_700)]).toEqual([false, true])
  expect(isStale(after([0, heard], [1, { kind: 'network-lost' }]), 1)).toBe(true)
  expect(isStale(initialState(0), 9_000)).toBe(false)
})

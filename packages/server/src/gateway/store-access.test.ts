// Tests when a gateway that lost the store ends its sessions, with the shipped times on a clock of the test.

import { expect, test } from 'vitest'
import type { OthersView } from './peers/view-calls.ts'
import type { Session } from './session/session.ts'
import { createStoreAccess } from './store-access.ts'
import { DEFAULT_TIMES } from './timings.ts'

const SWEEP_MS = DEFAULT_TIMES.sweepMs
const FRESH: OthersView = { fresh: true, others: { 'http://b': 'has a fresh view' } }
const NONE: OthersView = { fresh: false, others: { 'http://b': 'did not answer: Error: no answer' } }

function gatewayWith(options: { readonly acceptsAgents?: boolean } = {}) {
  const state = { now: 1_000_000, others: NONE, asked: 0 }
  const detector = { freshAt: state.now }
  const logged: string[] = []
  const log = (_facts: object, text: string) => logged.push(text)
  const context = { detector, times: DEFAULT_TIMES, log: { info: log, warn: log }, ...options }
  const access = createStoreAccess(
    context as unknown as Parameters<typeof createStoreAccess>[0],
    async () => {
      state.asked += 1
      return state.others
    },
    () => 0.5,
  )
  return {
    access,
    state,
    logged,
    /** Runs the sweeps of a time. With `reached`, the store answers throughout. */
    async pass(ms: number, reached = false) {
      for (let passed = 0; passed < ms; passed += SWEEP_MS) {
        state.now += SWEEP_MS
        if (reached) detector.freshAt = state.now
        access.check(state.now, 0)
        await Promise.resolve()
        await Promise.resolve()
        await Promise.resolve()
      }
    },
    suspend(ms: number) {
      state.now += ms
      access.check(state.now, ms)
    },
  }
}

test('cuts off after 20 s without the store while another server reaches it, and not before', async () => {
  const { access, state, pass, logged } = gatewayWith()
  state.others = FRESH
  await pass(19_750)
  expect(access.isCutOff).toBe(false)
  await pass(750)
  expect(access.isCutOff).toBe(true)
  expect(logged).toEqual([
    'store unreachable from this server but not from others, ending its agent sessions',
  ])
})

test('keeps its sessions for as long as no other server is known to reach the store, and logs it once', async () => {
  const { access, pass, logged } = gatewayWith()
  await pass(1_200_000)
  expect(access.isCutOff).toBe(false)
  expect(logged).toEqual(['store unreachable and no other server known to reach it, keeping agent sessions'])
})

test('keeps its sessions when the store returns to another server a moment earlier', async () => {
  const { access, state, pass } = gatewayWith()
  await pass(300_000)
  state.others = FRESH
  await pass(4_000)
  await pass(60_000, true)
  expect(access.isCutOff).toBe(false)
})

test('accepts agents again as soon as it reaches the store', async () => {
  const { access, state, pass, logged } = gatewayWith()
  state.others = FRESH
  await pass(30_000)
  expect(access.isCutOff).toBe(true)
  await pass(SWEEP_MS, true)
  expect(access.isCutOff).toBe(false)
  expect(logged.at(-1)).toBe('store reached again, accepting agents')
})

test('does not take the time for which it was suspended for a cut', async () => {
  const { access, state, pass, suspend } = gatewayWith()
  state.others = FRESH
  await pass(16_000)
  suspend(60_000)
  expect(access.isCutOff).toBe(false)
  await pass(3_500)
  expect(access.isCutOff).toBe(false)
  await pass(1_000)
  expect(access.isCutOff).toBe(true)
})

test('ends each session once at its own time, and asks no server while it reaches the store', async () => {
  const { access, state, pass } = gatewayWith()
  const session = {} as unknown as Session
  await pass(60_000, true)
  expect(state.asked).toBe(0)
  state.others = FRESH
  await pass(20_500)
  expect(access.isCutOff).toBe(true)
  expect(access.mustEnd(session, state.now)).toBe(false)
  expect(access.mustEnd(session, state.now + 2_499)).toBe(false)
  expect(access.mustEnd(session, state.now + 2_500)).toBe(true)
})

test('a process without agents asks no server', async () => {
  const { access, state, pass } = gatewayWith({ acceptsAgents: false })
  state.others = FRESH
  await pass(60_000)
  expect(access.isCutOff).toBe(false)
  expect(state.asked).toBe(0)
})

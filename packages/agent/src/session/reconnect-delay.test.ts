import { expect, test } from 'vitest'
import { reconnectDelayMs } from './reconnect-delay.ts'

test.each([
  [0, 0, 500],
  [0, 1, 1_000],
  [1, 1, 2_000],
  [4, 0, 8_000],
  [5, 1, 30_000],
  [1_000, 0, 15_000],
])('after %i failures and with random value %d the reconnect delay is %i ms', (failures, random, ms) => {
  expect(reconnectDelayMs(failures, random)).toBe(ms)
})

test.each([
  [10_000, 20_000],
  [1_000, 2_000],
  [20, 1_000],
  [300_000, 30_000],
])('with a heartbeat interval of %i ms the reconnect delay is at most %i ms', (heartbeatMs, ms) => {
  expect(reconnectDelayMs(1_000, 1, heartbeatMs)).toBe(ms)
})

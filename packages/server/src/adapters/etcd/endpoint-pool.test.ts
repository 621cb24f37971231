// Which member is asked next, and over which connection.

import { connectivityState } from '@grpc/grpc-js'
import { expect, test, vi } from 'vitest'
import { type Endpoint, makeEndpointPool } from './endpoint-pool.ts'

/** A member whose connection looks sound, whatever is at its other end. */
function member(name: string, lastAnswerAt: number) {
  const getConnectivityState = () => connectivityState.READY
  const client = { getChannel: () => ({ getConnectivityState }) } as unknown as Endpoint['client']
  return { name, client, lastAnswerAt, renew: vi.fn() }
}

const soon = () => performance.now() + 60_000

test('the member in use is kept until it is left', async () => {
  const [a, b] = [member('a', performance.now()), member('b', performance.now())]
  const pool = makeEndpointPool([a, b])
  expect(await pool.acquire(soon())).toBe(a)
  pool.leave(b)
  expect(await pool.acquire(soon())).toBe(a)
  pool.leave(a)
  expect(await pool.acquire(soon())).toBe(b)
})

test('a connection that was idle for long is made anew before it is used: it may have died unnoticed', () => {
  const a = member('a', performance.now())
  const idle = member('idle', performance.now() - 60_000)
  const fresh = member('fresh', performance.now())
  const pool = makeEndpointPool([a, idle, fresh])
  pool.leave(a)
  expect(idle.renew).toHaveBeenCalledTimes(1)
  pool.leave(idle)
  expect([a.renew, fresh.renew].map((one) => one.mock.calls.length)).toEqual([0, 0])
})

test('a lone member keeps its connection', () => {
  const a = member('a', Number.NEGATIVE_INFINITY)
  makeEndpointPool([a]).leave(a)
  expect(a.renew).not.toHaveBeenCalled()
})

// Tests which etcd member a call uses next, and whether the connection to that member is reused or replaced.

import { connectivityState } from '@grpc/grpc-js'
import { expect, test, vi } from 'vitest'
import { type Endpoint, makeEndpoint, makeEndpointPool } from './endpoint-pool.ts'

/** An etcd member whose connection always reports that it is ready. */
function member(name: string, lastAnswerAt: number) {
  const getConnectivityState = () => connectivityState.READY
  const client = { getChannel: () => ({ getConnectivityState }) } as unknown as Endpoint['client']
  return { name, client, lastAnswerAt, openedAt: lastAnswerAt, renew: vi.fn(), close: () => {} }
}

const soon = () => performance.now() + 60_000

test('keeps using a member until it is left', async () => {
  const [a, b] = [member('a', performance.now()), member('b', performance.now())]
  const pool = makeEndpointPool([a, b])
  expect(await pool.acquire(soon())).toBe(a)
  pool.leave(b)
  expect(await pool.acquire(soon())).toBe(a)
  pool.leave(a)
  expect(await pool.acquire(soon())).toBe(b)
})

test('replaces a connection that was idle for long, because it may be dead', () => {
  const a = member('a', performance.now())
  const idle = member('idle', performance.now() - 60_000)
  const fresh = member('fresh', performance.now())
  const pool = makeEndpointPool([a, idle, fresh])
  pool.leave(a)
  expect(idle.renew).toHaveBeenCalledTimes(1)
  pool.leave(idle)
  expect([a.renew, fresh.renew].map((one) => one.mock.calls.length)).toEqual([0, 0])
})

test('keeps the connection of a single member', () => {
  const a = member('a', Number.NEGATIVE_INFINITY)
  makeEndpointPool([a]).leave(a)
  expect(a.renew).not.toHaveBeenCalled()
})

/** An etcd member that is connected `takesMs` milliseconds after dialing, or never without `takesMs`. */
function dialled(name: string, takesMs = Number.POSITIVE_INFINITY) {
  let opened = 0
  const endpoint = makeEndpoint(name, () => {
    opened += 1
    return slowClient(takesMs)
  })
  return { endpoint, opened: () => opened }
}

function slowClient(takesMs: number): Endpoint['client'] {
  const { READY, CONNECTING, SHUTDOWN } = connectivityState
  const begun = performance.now()
  let closed = false
  const state = () => (closed ? SHUTDOWN : performance.now() - begun >= takesMs ? READY : CONNECTING)
  const channel = {
    getConnectivityState: state,
    watchConnectivityState(before: number, until: number, callback: (error?: Error) => void) {
      if (state() !== before) callback()
      else if (Date.now() >= until) callback(new Error('too late'))
      else setTimeout(() => channel.watchConnectivityState(before, until, callback), 2)
    },
  }
  const close = () => {
    closed = true
  }
  return { getChannel: () => channel, close } as unknown as Endpoint['client']
}

test('lets concurrent callers share the search for a member', async () => {
  const [gone, slow] = [dialled('gone'), dialled('slow', 150)]
  const pool = makeEndpointPool([gone.endpoint, slow.endpoint])
  // As after a failover, the connections to both members are old, so the pool replaces each connection before use.
  for (const { endpoint } of [gone, slow]) endpoint.openedAt = Number.NEGATIVE_INFINITY
  const found: Promise<Endpoint>[] = []
  for (let asker = 0; asker < 30; asker += 1) {
    found.push(pool.acquire(performance.now() + 10_000))
    await new Promise((resolve) => setTimeout(resolve, 40))
  }
  for (const endpoint of await Promise.all(found)) expect(endpoint.name).toBe('slow')
  expect(slow.opened()).toBe(2)
})

test('stops waiting for a member at the deadline of the call', async () => {
  const pool = makeEndpointPool([dialled('gone').endpoint])
  let isPatient = true
  const patient = pool.acquire(performance.now() + 1_200).catch((error: unknown) => {
    isPatient = false
    return String(error)
  })
  await expect(pool.acquire(performance.now() + 50)).rejects.toThrow('no etcd member could be reached')
  expect(isPatient).toBe(true)
  expect(await patient).toContain('no etcd member could be reached')
})

test('rejects a call without time left and sets no timer', async () => {
  const pool = makeEndpointPool([dialled('gone').endpoint])
  await expect(pool.acquire(performance.now() - 5_000)).rejects.toThrow('no etcd member could be reached')
})

test('dials no member once closed and rejects waiting calls at once', async () => {
  const [gone, idle] = [dialled('gone'), dialled('idle', 0)]
  const pool = makeEndpointPool([gone.endpoint, idle.endpoint])
  idle.endpoint.openedAt = Number.NEGATIVE_INFINITY
  const asked = pool.acquire(performance.now() + 10_000).catch(String)
  pool.close()
  expect(await asked).toContain('closed')
  await expect(pool.acquire(performance.now() + 10_000)).rejects.toMatchObject({ applied: 'no' })
  idle.endpoint.renew()
  expect([gone.opened(), idle.opened()]).toEqual([1, 1])
})

test('opens a new connection once its credentials are outdated, and closes the previous one later', () => {
  const closed: string[] = []
  let credentials = 'old'
  const opened: string[] = []
  const open = () => {
    const mine = credentials
    opened.push(mine)
    return { close: () => void closed.push(mine) } as unknown as Endpoint['client']
  }
  const endpoint = makeEndpoint('etcd-1', open, () => credentials)
  const before = endpoint.client
  expect(endpoint.client).toBe(before)
  credentials = 'new'
  expect(endpoint.client).not.toBe(before)
  expect(endpoint.client).toBe(endpoint.client)
  expect([opened, closed]).toEqual([['old', 'new'], []])
  endpoint.close()
  expect(closed.toSorted()).toEqual(['new', 'old'])
})

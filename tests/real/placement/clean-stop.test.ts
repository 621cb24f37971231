// A server that stops while a request is pending: another server replica owns its shards long before the request ends, and
// before the heartbeat of the stopped one would have become stale.

import { connect } from 'node:net'
import { shardAddress } from '@holdfast/server/loops/leadership/fence'
import { LEADERSHIP_TIMINGS } from '@holdfast/server/loops/leadership/lead-shards'
import { SHARDS } from '@holdfast/server/loops/leadership/shard-of'
import type { Store } from '@holdfast/server/store/store'
import { type Platform, startPlatform, startReplica } from '@holdfast/testkit/platform/start-platform'
import { afterAll, beforeAll, expect, test } from 'vitest'

/** A stale heartbeat is noticed after six times as long; a pending request may last four times as long. */
const TAKEOVER_MS = LEADERSHIP_TIMINGS.silentMs / 6

let platform: Platform
beforeAll(async () => {
  platform = await startPlatform({ settings: { roles: ['api', 'controllers', 'broker'] } })
})
afterAll(() => platform.stop())

/** Number of owned shards by owner. */
function shares(store: Store): number[] {
  const counts = new Map<string, number>()
  for (let shard = 0; shard < SHARDS; shard += 1) {
    const owner = store.get(shardAddress(shard))?.record.owner ?? 'none'
    counts.set(owner, (counts.get(owner) ?? 0) + 1)
  }
  return [...counts.values()]
}

/** Begins a request whose body does not arrive. */
async function beginRequest(baseUrl: string, token: string) {
  const { hostname, port } = new URL(baseUrl)
  const socket = connect(Number(port), hostname)
  const head = `POST /api/v1/tenants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n`
  await new Promise((resolve) =>
    socket.write(`${head}Content-Type: application/json\r\nContent-Length: 10\r\n\r\n{`, resolve),
  )
  return socket.on('error', () => {})
}

test('another replica owns every shard before the pending requests of a stopped server end', async () => {
  const { store } = platform.server
  const stopping = await startReplica(platform)
  await expect.poll(() => shares(store)).toEqual([SHARDS / 2, SHARDS / 2])
  const pending = await beginRequest(stopping.baseUrl, platform.platformToken)
  // The server has read the head of the request once a later request on another connection is answered.
  expect((await stopping.api(platform.platformToken).get('/api/v1/tenants')).status).toBe(200)
  const began = performance.now()
  let closed = false
  const stopped = stopping.stop().then(() => {
    closed = true
  })
  await expect.poll(() => shares(store)).toEqual([SHARDS])
  expect(performance.now() - began).toBeLessThan(TAKEOVER_MS)
  expect(closed).toBe(false)
  pending.destroy()
  await stopped
})

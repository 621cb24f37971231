// A server that stops while a request is pending releases its shards at once: another server replica owns them before the
// request ends, and did not have to wait until the heartbeat of the stopped one became stale.

import { connect } from 'node:net'
import { shardAddress } from '@holdfast/server/loops/leadership/fence'
import { SHARDS } from '@holdfast/server/loops/leadership/shard-of'
import { shards } from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import { type Platform, startReplica } from '@holdfast/testkit/platform/start-platform'
import { afterAll, beforeAll, expect, test } from 'vitest'

let platform: Platform
beforeAll(async () => {
  platform = await ownPlatform({ settings: { roles: ['api', 'controllers', 'broker'] } })
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

test('a server that stops releases its shards to another replica before its pending requests end', async () => {
  const { store } = platform.server
  const stopping = await startReplica(platform)
  await expect.poll(() => shares(store)).toEqual([SHARDS / 2, SHARDS / 2])
  const pending = await beginRequest(stopping.baseUrl, platform.platformToken)
  // The server has read the head of the request once a later request on another connection is answered.
  expect((await stopping.api(platform.platformToken).get('/api/v1/tenants')).status).toBe(200)
  const released = new Set<string>()
  const unsubscribe = store.subscribe((changes) => {
    for (const { kind, key } of changes)
      if (kind === 'delete' && key.folder === shards.folder) released.add(key.id)
  })
  let closed = false
  const stopped = stopping.stop().then(() => {
    closed = true
  })
  await expect.poll(() => shares(store)).toEqual([SHARDS])
  expect(closed).toBe(false)
  unsubscribe()
  // The shards of a replica with a stale heartbeat change their owner without being released.
  expect(released.size).toBe(SHARDS / 2)
  pending.destroy()
  await stopped
})

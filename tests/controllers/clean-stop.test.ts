// A server replica that stops releases its shards at once: another replica owns them long before the first one's heartbeat
// would have become stale, with the default timings.

import { shardAddress } from '@holdfast/server/loops/leadership/fence'
import { LEADERSHIP_TIMINGS, startLeadership } from '@holdfast/server/loops/leadership/lead-shards'
import { SHARDS } from '@holdfast/server/loops/leadership/shard-of'
import { serverReplicas } from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { globally } from '@holdfast/server/store/transaction'
import { realClock as clock } from '@holdfast/server/system-clock'
import { uniqueName } from '@holdfast/testkit'
import { openTestStore } from '@holdfast/testkit/store/open-test-store'
import { expect, onTestFinished, test } from 'vitest'

/** Longest time in which every shard must have another owner; a stale heartbeat is noticed after six times as long. */
const TAKEOVER_MS = LEADERSHIP_TIMINGS.silentMs / 6

async function startReplica(root: string, replica: string) {
  const opened = await openTestStore({ root })
  const { store } = opened
  const leadership = startLeadership({
    store,
    clock,
    replica,
    url: `http://${replica}`,
    onError: () => {},
  })
  let stopped: Promise<void> | undefined
  const stop = (): Promise<void> => {
    stopped ??= leadership.stop()
    return stopped
  }
  onTestFinished(async () => {
    await stop()
    opened.close()
  })
  return { store, stop }
}

function shardsOf(store: Store, owner: string): number {
  const all = Array.from({ length: SHARDS }, (_, shard) => store.get(shardAddress(shard))?.record.owner)
  return all.filter((each) => each === owner).length
}

test('another replica owns every shard within two seconds of a clean stop', async () => {
  const root = `/${uniqueName('stop')}`
  const first = await startReplica(root, 'first')
  await expect.poll(() => shardsOf(first.store, 'first')).toBe(SHARDS)
  const second = await startReplica(root, 'second')
  await expect.poll(() => shardsOf(second.store, 'second')).toBe(SHARDS / 2)
  const began = performance.now()
  await first.stop()
  await expect.poll(() => shardsOf(second.store, 'second')).toBe(SHARDS)
  expect(performance.now() - began).toBeLessThan(TAKEOVER_MS)
  expect(second.store.get(globally(serverReplicas, 'first'))).toBeUndefined()
})

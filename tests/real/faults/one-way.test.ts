// Network partitions in one direction: messages arrive and responses do not, or the reverse. The waiting side detects the
// partition in time and reconnects or uses another connection; no write is applied twice. The silence of a wire decides it.

import { createEtcdClient } from '@holdfast/server/adapters/etcd/create-etcd-client'
import { someTenant } from '@holdfast/server/store/records.fixture'
import { readyObservation, sharedEtcd, startChaosProxy, uniqueName, waitUntil } from '@holdfast/testkit'
import { runSession } from '@holdfast/testkit/faults/run-session'
import { gatewayForTest } from '@holdfast/testkit/session/gateways'
import { eventTypes, nodeRecord, observationOf } from '@holdfast/testkit/session/read-records'
import { addTenant, anAssignment, enroll, place } from '@holdfast/testkit/session/session-records'
import { recordChanges } from '@holdfast/testkit/store/change-log'
import { checkEveryEvent, checkWrites, readTruth } from '@holdfast/testkit/store/check-writes'
import { openTestStore } from '@holdfast/testkit/store/open-test-store'
import { startWriteLoad } from '@holdfast/testkit/store/write-load'
import { expect, onTestFinished, test } from 'vitest'

const DIRECTIONS = ['toServer', 'toClient'] as const
/** Limit of each wait in this test: many times the usual duration. */
const IN_TIME = { timeoutMs: 20_000 }

async function proxyOf(url: string) {
  const { hostname, port } = new URL(url)
  const proxy = await startChaosProxy(hostname, Number(port))
  onTestFinished(() => proxy.stop())
  return { proxy, url: `http://${proxy.host}:${proxy.port}` }
}

test.each(DIRECTIONS)(
  'server and etcd partitioned %s: writes and the watch use another connection, and each write is made once',
  async (direction) => {
    const { endpoints } = await sharedEtcd()
    const [endpoint = ''] = endpoints
    const [broken, healthy] = [await proxyOf(endpoint), await proxyOf(endpoint)]
    const one = await openTestStore({
      endpoints: [broken.url, healthy.url],
      root: `/${uniqueName('one-way')}`,
    })
    const direct = createEtcdClient({ endpoints })
    const tenant = someTenant()
    const log = recordChanges(one.store, tenant)
    const load = startWriteLoad([one.store], { tenant, writers: 8, restMs: 10 })
    onTestFinished(async () => {
      await load.stop()
      one.close()
      direct.close()
    })
    const writesAreBack = async (what: string): Promise<void> => {
      const since = performance.now()
      await waitUntil(() => load.acknowledgedSince(since), { what, ...IN_TIME })
    }
    await writesAreBack('writes are under way')
    broken.proxy.stall(direction)
    // A silent watch stream is abandoned after two seconds; the connection itself would time out only after fifteen.
    await waitUntil(() => one.counts.resumes > 0, {
      what: 'the watch has left its stream',
      timeoutMs: 10_000,
    })
    await writesAreBack('writes continue')
    await one.store.fresh()
    // The proxy now delivers the messages that it delayed, to connections that still exist.
    broken.proxy.resume()
    await writesAreBack('writes continue after that')
    await load.stop()
    await one.store.fresh()
    const truth = await readTruth(direct, one.store.keyspace, tenant)
    expect(checkWrites(truth, load.ledger)).toEqual([])
    expect(checkEveryEvent(truth, log)).toEqual([])
    // The watch leaves the silent connection once, on a busy machine a few times more, but does not keep reconnecting.
    expect(one.counts.resumes).toBeLessThan(5)
  },
)

test.each(DIRECTIONS)(
  'node and server partitioned %s: the session ends, and is reopened when the network is back',
  async (direction) => {
    // The server resyncs often, so the agent hears from it and must notice by a deadline that its own messages are lost.
    const times = { heartbeatMs: 500, unreachableMs: 2_000, failedMs: 600_000, sweepMs: 20, resyncMs: 50 }
    const { url, store, gateway } = await gatewayForTest({ times })
    const tenant = await addTenant(store)
    const node = await enroll(store, tenant)
    const [first, second] = [anAssignment(node.nodeId), anAssignment(node.nodeId, { replica: 1 })]
    const uid = await place(store, tenant, [first])
    const way = await proxyOf(url)
    const agent = runSession(way.url, node, { steadyMs: 10_000, openMs: 1_000, reconnectDelayMs: () => 50 })
    onTestFinished(() => agent.session.close())
    const isAssigned = (id: string) =>
      waitUntil(
        () => agent.received.some(({ items }) => items.some(({ assignmentId }) => assignmentId === id)),
        {
          what: 'the node receives its work',
          ...IN_TIME,
        },
      )
    const status = async (wanted: string) =>
      waitUntil(async () => (await nodeRecord(store, node)).status === wanted, {
        what: `it is ${wanted}`,
        ...IN_TIME,
      })
    await isAssigned(first.id)
    const item = agent.received[0]?.items[0]
    if (item === undefined) throw new Error('no item')

    const [before, endsBefore] = [gateway.counts.sessionsOpened, agent.ends()]
    way.proxy.stall(direction)
    await waitUntil(() => gateway.sessions === 0, { what: 'the server has ended the session', ...IN_TIME })
    await waitUntil(() => agent.ends() > endsBefore, { what: 'the agent has ended it', ...IN_TIME })
    await status('unreachable')
    agent.session.report([readyObservation(item, 1)])
    await place(store, tenant, [first, second], uid)
    expect(gateway.counts.sessionsOpened).toBe(before)

    way.proxy.resume()
    await isAssigned(second.id)
    await status('ready')
    const what = 'the report of that time is stored'
    const stored = await waitUntil(() => observationOf(store, tenant, first.id), { what, ...IN_TIME })
    expect(stored.seq).toBe(1)
    expect(gateway.sessions).toBe(1)
    expect(gateway.counts).toMatchObject({ observations: 1, violations: 0 })
    expect((await nodeRecord(store, node)).session.epoch).toBe(gateway.counts.sessionsOpened)
    const types = await eventTypes(store, tenant)
    const readies = types.filter((type) => type === 'node.ready').length
    expect(readies).toBeGreaterThan(1)
    // The events alternate between node.ready and node.unreachable, and no other event was emitted.
    expect(types.filter((type) => type === 'node.unreachable')).toHaveLength(readies - 1)
    expect(types).toHaveLength(2 * readies - 1)
  },
)

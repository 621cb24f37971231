// Partitions of one direction only: what is said arrives and the answer does not, or the other way round. Whoever
// waits for the silent side notices in time and goes another way or comes back; nothing is done twice.

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
/** Of each wait: many times what it takes, and far less than for ever. */
const IN_TIME = { timeoutMs: 20_000 }

async function proxyOf(url: string) {
  const { hostname, port } = new URL(url)
  const proxy = await startChaosProxy(hostname, Number(port))
  onTestFinished(() => proxy.stop())
  return { proxy, url: `http://${proxy.host}:${proxy.port}` }
}

test.each(DIRECTIONS)(
  'server and etcd, %s: writes and the watch go another way, each write is made once',
  async (direction) => {
    const { endpoints } = await sharedEtcd()
    const [endpoint = ''] = endpoints
    const [broken, sound] = [await proxyOf(endpoint), await proxyOf(endpoint)]
    const one = await openTestStore({ endpoints: [broken.url, sound.url], root: `/${uniqueName('one-way')}` })
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
    // In two seconds by its own deadline; without that the connection itself would be given up after fifteen.
    await waitUntil(() => one.counts.resumes > 0, {
      what: 'the watch has left its stream',
      timeoutMs: 10_000,
    })
    await writesAreBack('writes go on')
    await one.store.fresh()
    // What was held back is delivered now, to whoever is still there for it.
    broken.proxy.resume()
    await writesAreBack('writes go on after that')
    await load.stop()
    await one.store.fresh()
    const truth = await readTruth(direct, one.store.keyspace, tenant)
    expect(checkWrites(truth, load.ledger)).toEqual([])
    expect(checkEveryEvent(truth, log)).toEqual([])
    // Not to and fro: the silent way is left once, a busy machine may cost another turn.
    expect(one.counts.resumes).toBeLessThan(5)
  },
)

test.each(DIRECTIONS)(
  'node and server, %s: the session is given up, and made anew when the way is free',
  async (direction) => {
    // The server speaks often: only the deadline of the other side can notice that it is not heard.
    const times = { heartbeatMs: 500, unreachableMs: 2_000, failedMs: 600_000, sweepMs: 20, resyncMs: 50 }
    const { url, store, gateway } = await gatewayForTest({ times })
    const tenant = await addTenant(store)
    const node = await enroll(store, tenant)
    const [first, second] = [anAssignment(node.nodeId), anAssignment(node.nodeId, { replica: 1 })]
    const uid = await place(store, tenant, [first])
    const way = await proxyOf(url)
    const agent = runSession(way.url, node, { steadyMs: 10_000, openMs: 1_000, reconnectDelayMs: () => 50 })
    onTestFinished(() => agent.session.close())
    const isTold = (id: string) =>
      waitUntil(() => agent.told.some(({ items }) => items.some(({ assignmentId }) => assignmentId === id)), {
        what: 'the node is told its work',
        ...IN_TIME,
      })
    const status = async (wanted: string) =>
      waitUntil(async () => (await nodeRecord(store, node)).status === wanted, {
        what: `it is ${wanted}`,
        ...IN_TIME,
      })
    await isTold(first.id)
    const item = agent.told[0]?.items[0]
    if (item === undefined) throw new Error('no item')

    const [before, endsBefore] = [gateway.counts.sessionsOpened, agent.ends()]
    way.proxy.stall(direction)
    await waitUntil(() => gateway.sessions === 0, { what: 'the server has given the session up', ...IN_TIME })
    await waitUntil(() => agent.ends() > endsBefore, { what: 'the agent has given it up', ...IN_TIME })
    await status('unreachable')
    agent.session.report([readyObservation(item, 1)])
    await place(store, tenant, [first, second], uid)
    expect(gateway.counts.sessionsOpened).toBe(before)

    way.proxy.resume()
    await isTold(second.id)
    await status('ready')
    const what = 'what was reported meanwhile is stored'
    const stored = await waitUntil(() => observationOf(store, tenant, first.id), { what, ...IN_TIME })
    expect(stored.seq).toBe(1)
    expect(gateway.sessions).toBe(1)
    expect(gateway.counts).toMatchObject({ observations: 1, violations: 0 })
    expect((await nodeRecord(store, node)).session.epoch).toBe(gateway.counts.sessionsOpened)
    const types = await eventTypes(store, tenant)
    const readies = types.filter((type) => type === 'node.ready').length
    expect(readies).toBeGreaterThan(1)
    // Told in turns, and nothing else of it.
    expect(types.filter((type) => type === 'node.unreachable')).toHaveLength(readies - 1)
    expect(types).toHaveLength(2 * readies - 1)
  },
)

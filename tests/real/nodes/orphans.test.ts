// How the server handles a node's report of orphaned containers that are too many to be removed automatically.

import { startSession } from '@holdfast/agent/session/start-session'
import type { Event, TenantId } from '@holdfast/contract'
import type { GatewayContext } from '@holdfast/server/gateway/deps'
import { acceptOrphans } from '@holdfast/server/gateway/reports/accept-orphans'
import { newSession } from '@holdfast/server/gateway/session/session'
import { events } from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { realClock as clock } from '@holdfast/server/system-clock'
import { makeSimulatedKeys, waitUntil } from '@holdfast/testkit'
import { gatewayForTest } from '@holdfast/testkit/session/gateways'
import { type OpenAgent, openRaw } from '@holdfast/testkit/session/raw-agent'
import { addTenant, enroll } from '@holdfast/testkit/session/session-records'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'

async function orphanEvents(store: Store, tenant: TenantId): Promise<Event[]> {
  await store.fresh()
  const found = await store.read(
    events,
    store.keysOf(events, tenant).map(({ key }) => key),
  )
  return found.flatMap((event) => (event?.type === 'node.orphans_found' ? [event] : []))
}
const untilEmitted = (store: Store, tenant: TenantId, count: number) =>
  waitUntil(async () => (await orphanEvents(store, tenant)).length === count, {
    what: `${count} are reported`,
  })
const reportOrphans = (agent: OpenAgent, orphans: readonly string[], session = agent.session) =>
  agent.send({ type: 'status', session, observations: [], orphans: [...orphans] })
const names = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => `web.${String(at).padStart(2, '0')}`)

/** Waits until the agent's earlier messages are processed; a session handles messages in order. */
async function settled(agent: OpenAgent): Promise<void> {
  agent.send({ type: 'call', id: 'last', method: 'containers' })
  await agent.next('answer')
}

async function oneNode(options: Parameters<typeof gatewayForTest>[0] = {}) {
  const started = await gatewayForTest(options)
  const tenant = await addTenant(started.store)
  return { ...started, tenant, node: await enroll(started.store, tenant) }
}

test('orphaned containers are reported once, with number, names and remedy', async () => {
  const { url, store, tenant, node } = await oneNode()
  const agent = await openRaw(url, node)
  reportOrphans(agent, [...names(25).toReversed(), 'b\u001b[2J', '', 'web.00'])
  await untilEmitted(store, tenant, 1)
  // A repeated report of the same orphans, from this session or the next, causes no second event.
  const before = await orphanEvents(store, tenant)
  reportOrphans(agent, names(25))
  const again = await openRaw(url, node)
  reportOrphans(again, names(25))
  await settled(again)
  const after = await orphanEvents(store, tenant)
  expect(after).toEqual(before)
  const [event] = after
  expect(event).toMatchObject({
    severity: 'warning',
    reason: 'left',
    subject: { kind: 'Node', uid: node.nodeId },
    data: { count: 25, containers: names(20), fix: expect.stringContaining('docker rm') },
  })
  expect(event?.message).toContain('runs 25 unmanaged containers')
})

test('an orphan report of an older session or with another session number is ignored', async () => {
  const { url, store, tenant, node } = await oneNode()
  const old = await openRaw(url, node)
  const agent = await openRaw(url, node)
  reportOrphans(old, names(5))
  reportOrphans(agent, names(6), agent.session + 1)
  await settled(agent)
  reportOrphans(agent, names(7))
  await untilEmitted(store, tenant, 1)
  expect((await orphanEvents(store, tenant))[0]?.data).toMatchObject({ count: 7 })
})

test('a node that keeps reporting other orphans is reported once a minute', async () => {
  const { store, tenant, node, url } = await oneNode()
  const { session: epoch } = await openRaw(url, node)
  const opened = {
    tenant,
    nodeId: node.nodeId,
    generation: node.generation,
    epoch,
    reportedStatus: 'ready' as const,
  }
  const session = newSession(opened, undefined, 0)
  const log = { info() {}, warn() {} }
  const running = { store, clock, log, replica: 'server-1' } as unknown as GatewayContext
  for (let at = 0; at < 50; at += 1) await acceptOrphans(running, session, names(5 + at), at * 1000)
  expect(await orphanEvents(store, tenant)).toHaveLength(1)
  await acceptOrphans(running, session, names(60), 60_000)
  expect(await orphanEvents(store, tenant)).toHaveLength(2)
  // Reports of an outdated session, which the node's record no longer names, cause no event.
  const older = newSession({ ...opened, epoch: epoch - 1 }, undefined, 0)
  await acceptOrphans(running, older, names(70), 200_000)
  expect(await orphanEvents(store, tenant)).toHaveLength(2)
})

test('the agent reports orphans once it has a session, and again after each complete set until there are none', async () => {
  const { url, store, tenant, node } = await oneNode({ times: { resyncMs: 100, sweepMs: 20 } })
  const keys = makeSimulatedKeys()
  const sets: number[] = []
  const session = startSession({
    state: {
      server: url,
      nodeId: node.nodeId,
      nodeName: 'n',
      tenant,
      generation: 1,
      labels: {},
      engine: '',
      engineVersion: { version: '', apiVersion: '' },
      identityKey: node.identityKey,
      encryptionKey: keys.openingKey,
    },
    machine: () => ({
      bootId: 'b',
      version: '0',
      capabilities: [],
      labels: {},
      engine: { version: '29.8.0', apiVersion: '1.56' },
      capacity: { cpuMillis: 1, memoryBytes: 1 },
    }),
    onDesired: ({ revision }) => sets.push(revision),
    containers: async () => [],
    log: pino({ enabled: false }),
  })
  onTestFinished(() => session.close())
  // Orphans that the agent reports before its session is open are sent once the session is open.
  session.reportOrphans(names(4))
  await untilEmitted(store, tenant, 1)
  session.reportOrphans([])
  const before = sets.length
  await waitUntil(() => sets.length > before + 2, { what: 'more sets have come' })
  expect(await orphanEvents(store, tenant)).toHaveLength(1)
})

test.each([
  [true, false],
  [false, false],
])('the welcome has the role of the node: control plane %s', async (controlPlane, platform) => {
  const { url, store, tenant } = await oneNode()
  const node = await enroll(store, tenant, { controlPlane })
  const { heard } = await openRaw(url, node)
  expect(heard).toContainEqual(expect.objectContaining({ type: 'welcome', controlPlane, platform }))
})

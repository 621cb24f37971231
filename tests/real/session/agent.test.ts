// The agent's session with a gateway over TLS: proof of the key, desired sets, reports that survive a lost connection,
// and sealed credentials.

import type { DesiredChange } from '@holdfast/agent/ports/session'
import { openSealed } from '@holdfast/agent/session/open-sealed'
import { type SessionTimes, startSession } from '@holdfast/agent/session/start-session'
import type { Observation } from '@holdfast/contract'
import { seal } from '@holdfast/server/broker/seal'
import type { Broker, CredentialAsk } from '@holdfast/server/ports/broker'
import {
  type Certificates,
  type ChaosProxy,
  makeCertificates,
  makeSimulatedKeys,
  readyObservation,
  startChaosProxy,
  waitUntil,
} from '@holdfast/testkit'
import { gatewayForTest } from '@holdfast/testkit/session/gateways'
import { nodeRecord, observationOf } from '@holdfast/testkit/session/read-records'
import {
  addTenant,
  anAssignment,
  type EnrolledNode,
  enroll,
  place,
} from '@holdfast/testkit/session/session-records'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'

const QUICK: SessionTimes = { steadyMs: 10_000, openMs: 5_000, reconnectDelayMs: () => 50 }

let certificates: Certificates
let strangers: Certificates
beforeAll(async () => {
  certificates = await makeCertificates()
  strangers = await makeCertificates()
})
afterAll(() => {
  certificates.remove()
  strangers.remove()
})

const serverTls = () => ({ cert: certificates.pem('server.crt'), key: certificates.pem('server.key') })

function runAgent(
  server: string,
  node: EnrolledNode,
  ca = certificates.pem('ca.crt'),
  hold?: () => string | undefined,
) {
  const received: DesiredChange[] = []
  const logged: string[] = []
  const session = startSession(
    {
      state: {
        ...{
          server,
          ca,
          nodeId: node.nodeId,
          nodeName: 'n',
          tenant: node.tenant,
          generation: node.generation,
        },
        labels: {},
        engine: '',
        engineVersion: { version: '29.0.0', apiVersion: '1.52' },
        identityKey: node.identityKey,
        encryptionKey: node.openingKey,
      },
      machine: () => ({
        bootId: 'boot-1',
        version: '0.1.0',
        capabilities: ['health_check'],
        labels: {},
        engine: { version: '29.0.0', apiVersion: '1.52' },
        capacity: { cpuMillis: 1_000, memoryBytes: 1_000 },
      }),
      onDesired: (change) => received.push(change),
      containers: async () => [],
      ...(hold === undefined ? {} : { hold }),
      log: pino({ base: null }, { write: (line) => logged.push(line) }),
    },
    QUICK,
  )
  onTestFinished(() => session.close())
  return { session, received, logged }
}

async function oneNode(options: Parameters<typeof gatewayForTest>[0] = {}) {
  const started = await gatewayForTest({ tls: serverTls(), ...options })
  const tenant = await addTenant(started.store)
  const node = await enroll(started.store, tenant)
  const assignment = anAssignment(node.nodeId)
  const uid = await place(started.store, tenant, [assignment])
  return { ...started, tenant, node, assignment, uid }
}

async function through(url: string): Promise<{ proxy: ChaosProxy; server: string }> {
  const proxy = await startChaosProxy('127.0.0.1', Number(new URL(url).port))
  onTestFinished(() => proxy.stop())
  return { proxy, server: `https://${proxy.host}:${proxy.port}` }
}

const firstItem = (received: DesiredChange[]) =>
  waitUntil(() => received[0]?.items[0], { what: 'the agent receives its work', timeoutMs: 10_000 })

test('the agent receives its assignments, reports them, and answers calls', async () => {
  const { url, store, tenant, node, assignment, uid, gateway } = await oneNode()
  const { session, received } = runAgent(url, node)
  const item = await firstItem(received)
  expect(received[0]).toMatchObject({ complete: true, gone: [] })
  session.report([readyObservation(item, 1)])
  await waitUntil(() => observationOf(store, tenant, assignment.id), { what: 'the report is stored' })
  await place(store, tenant, [{ ...assignment, desired: 'stopped' }], uid)
  await waitUntil(() => received[1], { what: 'the change has arrived' })
  expect(received[1]).toMatchObject({ complete: false, items: [{ desired: 'stopped', generation: 2 }] })
  expect(await gateway.callNode(tenant, node.nodeId, 'containers')).toEqual({
    kind: 'answered',
    containers: [],
  })
})

test('the agent opens no session with a server whose certificate another authority signed', async () => {
  const { url, node, gateway } = await oneNode()
  const { received, logged } = runAgent(url, node, strangers.pem('ca.crt'))
  const refusals = () => logged.filter((line) => line.includes('certificate')).length
  await waitUntil(() => refusals() > 1, { what: 'it has rejected the server twice' })
  expect(received).toEqual([])
  expect(gateway.counts).toMatchObject({ sessionsOpened: 0, hellosRefused: 0 })
})

test('reports made without a connection are sent after the next complete set', async () => {
  const { url, store, tenant, node, assignment, gateway } = await oneNode()
  const { proxy, server } = await through(url)
  const { session, received } = runAgent(server, node)
  const item = await firstItem(received)
  proxy.refuseNew()
  proxy.cutAll()
  await waitUntil(() => gateway.sessions === 0, { what: 'the connection is gone' })
  const reports: Observation[] = [1, 2].map((seq) => ({ ...readyObservation(item, seq), restarts: seq }))
  for (const report of reports) session.report([report])
  proxy.resume()
  const stored = await waitUntil(() => observationOf(store, tenant, assignment.id), {
    what: 'the report is stored',
  })
  expect(stored).toMatchObject({ seq: 2, restarts: 2 })
  expect(gateway.counts).toMatchObject({ sessionsOpened: 2, observations: 1 })
})

test('the record of a node shows why its agent removes nothing, until the agent may remove again', async () => {
  const { url, store, node } = await oneNode({ times: { heartbeatMs: 100 } })
  let held: string | undefined = 'the store has epoch e2, and this node knew e1'
  runAgent(url, node, undefined, () => held)
  const shown = async () => (await nodeRecord(store, node)).hold?.reason
  await waitUntil(async () => (await shown()) === held, { what: 'the hold is stored' })
  held = undefined
  await waitUntil(async () => (await shown()) === undefined, { what: 'the end of the hold is stored' })
})

test.each(['client', 'server'] as const)(
  'a half-open connection of which only the %s is left is closed, and the agent reconnects',
  async (survivor) => {
    // A connection ends after three missed heartbeats (1.5 s), longer than this process may pause on a busy machine.
    const times = { heartbeatMs: 500, unreachableMs: 60_000, failedMs: 90_000, sweepMs: 20 }
    const { url, store, tenant, node, gateway } = await oneNode({ times })
    const { proxy, server } = await through(url)
    const { received } = runAgent(server, node)
    await firstItem(received)
    proxy.halfOpen(survivor)
    await waitUntil(() => gateway.counts.sessionsOpened === 2, { what: 'a new session is open' })
    const change = anAssignment(node.nodeId)
    await place(store, tenant, [change])
    await waitUntil(
      () => received.some(({ complete, items }) => !complete && items[0]?.assignmentId === change.id),
      {
        what: 'it works',
      },
    )
    expect(gateway.sessions).toBe(1)
  },
)

/** A broker that serves registry credentials only. */
const brokerOf = (sealCredential: Broker['sealCredential']) => ({
  sealCredential,
  sealEnvironment: async () => ({ error: 'broker_unavailable' as const }),
})

test('a registry credential is sealed for the node, and only for registries that it pulls from', async () => {
  const credentialRequests: CredentialAsk[] = []
  const key = { of: '' }
  const broker = brokerOf(async (ask) => {
    credentialRequests.push(ask)
    const { host } = ask
    return {
      sealed: seal(key.of, JSON.stringify({ host, username: 'robot', password: 'canary-password' })),
    }
  })
  const { url, tenant, node } = await oneNode({ broker })
  key.of = node.encryptionKey
  const { session, received } = runAgent(url, node)
  const { assignmentId, owner } = await firstItem(received)
  const credential = await session.registryCredential('registry.example:5000')
  expect(credential).toEqual({ username: 'robot', password: 'canary-password' })
  await expect(session.registryCredential('other.example')).rejects.toThrow('host_not_in_use')
  const { nodeId } = node
  expect(credentialRequests).toEqual([{ tenant, nodeId, owner, assignmentId, host: 'registry.example:5000' }])
})

test('the agent distinguishes a missing registry credential from no answer', async () => {
  let fails = false
  const broker = brokerOf(async () => {
    if (fails) throw new Error('the secrets store is sealed')
    return {}
  })
  const { url, node } = await oneNode({ broker })
  const { session, received } = runAgent(url, node)
  await expect(session.registryCredential('registry.example:5000')).rejects.toThrow('no session')
  await firstItem(received)
  expect(await session.registryCredential('registry.example:5000')).toBeUndefined()
  fails = true
  await expect(session.registryCredential('registry.example:5000')).rejects.toThrow('credential_unavailable')
})

test('a sealed message is opened neither by another node nor after one bit has changed', () => {
  const [mine, other] = [makeSimulatedKeys(), makeSimulatedKeys()]
  const sealed = seal(mine.encryptionKey, 'canary')
  expect(sealed).not.toBe(seal(mine.encryptionKey, 'canary'))
  expect(openSealed(mine.openingKey, sealed).toString()).toBe('canary')
  expect(() => openSealed(other.openingKey, sealed)).toThrow()
  const bytes = Buffer.from(sealed, 'base64url')
  bytes[50] = (bytes[50] ?? 0) ^ 1
  expect(() => openSealed(mine.openingKey, bytes.toString('base64url'))).toThrow()
})

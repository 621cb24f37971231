// Agents, engines, containerd, machines, the network and the control plane fail. Containers that had no reason to change
// still run afterwards and were not recreated, and no assignment ever has two containers. If the tests run a build, each server
// is on a machine of its own.

import { serverReplicas } from '@holdfast/server/store/records'
import { waitUntil } from '@holdfast/testkit'
import { ROOT, testedBuild } from '@holdfast/testkit/builds/programs'
import { containerIds, placementsOf, untilPhase } from '@holdfast/testkit/scenarios/lab-reads'
import { type LabPlatform, startLabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { afterAll, beforeAll, expect, test } from 'vitest'

const NODES = ['acme-1', 'acme-2']
const CHECK = { type: 'exec', command: ['nc', '-w', '1', '127.0.0.1', '8080'] }

let cluster: LabPlatform
let before: string[]

beforeAll(async () => {
  cluster = await startLabPlatform({ nodesPerTenant: { acme: 2, globex: 1 }, serversOnMachines: true })
  const api = cluster.api('acme')
  const body = { kind: 'Deployment', name: 'steady', image: cluster.image, replicas: 4, healthCheck: CHECK }
  expect((await api.post('/api/v1/deployments', body)).status).toBe(201)
  await untilPhase(api, 'steady', 'Running')
  before = await everyId()
  expect(before).toHaveLength(4)
})
afterAll(() => cluster?.stop())

const everyId = async (): Promise<string[]> =>
  (await Promise.all(NODES.map((name) => containerIds(cluster, name)))).flat().sort()

/** Checks that the fault has not replaced any container, and that the deployment can still be scaled up and down. */
async function stillTheSame(): Promise<void> {
  const api = cluster.api('acme')
  await untilPhase(api, 'steady', 'Running')
  expect((await api.put('/api/v1/deployments/steady', { replicas: 5 })).status).toBe(200)
  await waitUntil(async () => (await everyId()).length === 5, {
    what: 'a fifth container runs',
    timeoutMs: 60_000,
  })
  expect(await everyId()).toEqual(expect.arrayContaining(before))
  await untilPhase(api, 'steady', 'Running')
  expect((await api.put('/api/v1/deployments/steady', { replicas: 4 })).status).toBe(200)
  await waitUntil(async () => (await everyId()).length === 4, {
    what: 'four containers are left',
    timeoutMs: 60_000,
  })
  await waitUntil(async () => (await placementsOf(api, 'steady')).length === 4, {
    what: 'four placements are listed',
  })
  expect(await everyId()).toEqual(before)
}

test.skipIf(testedBuild() === ROOT)('runs gateway, controllers and broker on three machines', () => {
  const servers = cluster.store.listWithIds(serverReplicas).map(({ record }) => record)
  const onMachines = cluster.lab.serverMachines.map(({ address }) => {
    const here = servers.filter(({ url }) => new URL(url).hostname === address)
    return here.map(({ url, leads, brokers = false }) => ({ url, leads, brokers }))
  })
  const [gateway, front, broker] = onMachines
  expect(gateway).toEqual([{ url: cluster.gateway.baseUrl, leads: false, brokers: false }])
  expect(front).toEqual([{ url: cluster.platform.baseUrl, leads: true, brokers: false }])
  expect(broker).toEqual([{ url: expect.any(String), leads: false, brokers: true }])
})

test('keeps the same containers when the agent is killed and restarted', async () => {
  await cluster.lab.killAgent(cluster.node('acme-1'))
  expect(await everyId()).toEqual(before)
  await cluster.lab.restartAgent(cluster.node('acme-1'))
  await stillTheSame()
})

test.each(NODES)('keeps the same containers when the engine of %s is killed and restarted', async (name) => {
  await cluster.lab.killEngine(cluster.node(name))
  await cluster.lab.restartEngine(cluster.node(name))
  await stillTheSame()
})

test.each(NODES)('keeps the same containers when containerd of %s is killed and restarted', async (name) => {
  const { engine } = cluster.node(name)
  await engine.killContainerd()
  await engine.restartContainerd()
  await stillTheSame()
})

test('keeps the same containers when the engine hangs for a while', async () => {
  const node = cluster.node('acme-2')
  cluster.lab.pauseEngine(node)
  const api = cluster.api('acme')
  expect((await api.put('/api/v1/deployments/steady', { replicas: 6 })).status).toBe(200)
  await waitUntil(async () => (await placementsOf(api, 'steady')).length === 6, {
    what: 'two more are placed',
  })
  cluster.lab.resumeEngine(node)
  await waitUntil(async () => (await everyId()).length === 6, { what: 'six run', timeoutMs: 60_000 })
  expect(await everyId()).toEqual(expect.arrayContaining(before))
  await api.put('/api/v1/deployments/steady', { replicas: 4 })
  await waitUntil(async () => (await everyId()).length === 4, {
    what: 'four containers are left',
    timeoutMs: 60_000,
  })
  await stillTheSame()
})

test('keeps the same containers when an agent restarts while the control plane is down', async () => {
  await cluster.replaceGateway(async () => {
    await cluster.lab.restartAgent(cluster.node('acme-1'))
    expect(await everyId()).toEqual(before)
  })
  await stillTheSame()
})

test('keeps the same containers when the network of a node is cut and restored', async () => {
  const node = cluster.node('acme-2')
  cluster.lab.partition(node, 'control-plane')
  expect(await everyId()).toEqual(before)
  cluster.lab.heal()
  await stillTheSame()
})

test('starts the same containers after a machine loses power and boots again', async () => {
  const node = cluster.node('acme-1')
  await cluster.lab.powerOff(node)
  await cluster.lab.powerOn(node)
  await waitUntil(async () => (await everyId()).length === 4, {
    what: 'all containers run',
    timeoutMs: 60_000,
  })
  await stillTheSame()
})

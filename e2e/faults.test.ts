// Agents, engines, containerd, machines, the wire and the control plane fail; containers that had no reason to change
// are the same ones afterwards, and no assignment ever has two.

import { waitUntil } from '@holdfast/testkit'
import { containerIds, placementsOf, untilPhase } from '@holdfast/testkit/scenarios/lab-reads'
import { type LabPlatform, startLabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { afterAll, beforeAll, expect, test } from 'vitest'

const NODES = ['acme-1', 'acme-2']
const CHECK = { type: 'exec', command: ['nc', '-w', '1', '127.0.0.1', '8080'] }

let whole: LabPlatform
let before: string[]

beforeAll(async () => {
  whole = await startLabPlatform({ nodesPerTenant: { acme: 2, globex: 1 } })
  const api = whole.api('acme')
  const body = { kind: 'Deployment', name: 'steady', image: whole.image, replicas: 4, healthCheck: CHECK }
  expect((await api.post('/api/v1/deployments', body)).status).toBe(201)
  await untilPhase(api, 'steady', 'Running')
  before = await everyId()
  expect(before).toHaveLength(4)
})
afterAll(() => whole?.stop())

const everyId = async (): Promise<string[]> =>
  (await Promise.all(NODES.map((name) => containerIds(whole, name)))).flat().sort()

/** What was asked before the fault still holds, and something new can be had: a scale-up and back. */
async function stillTheSame(): Promise<void> {
  const api = whole.api('acme')
  await untilPhase(api, 'steady', 'Running')
  expect((await api.put('/api/v1/deployments/steady', { replicas: 5 })).status).toBe(200)
  await waitUntil(async () => (await everyId()).length === 5, { what: 'a fifth runs', timeoutMs: 60_000 })
  expect(await everyId()).toEqual(expect.arrayContaining(before))
  await untilPhase(api, 'steady', 'Running')
  expect((await api.put('/api/v1/deployments/steady', { replicas: 4 })).status).toBe(200)
  await waitUntil(async () => (await everyId()).length === 4, { what: 'four are left', timeoutMs: 60_000 })
  await waitUntil(async () => (await placementsOf(api, 'steady')).length === 4, { what: 'four are known' })
  expect(await everyId()).toEqual(before)
}

test('the agent is killed and comes back', async () => {
  await whole.lab.killAgent(whole.node('acme-1'))
  expect(await everyId()).toEqual(before)
  await whole.lab.restartAgent(whole.node('acme-1'))
  await stillTheSame()
})

test.each(NODES)('the engine of %s is killed and comes back', async (name) => {
  await whole.lab.killEngine(whole.node(name))
  await whole.lab.restartEngine(whole.node(name))
  await stillTheSame()
})

test.each(NODES)('containerd of %s is killed and comes back', async (name) => {
  const { engine } = whole.node(name)
  await engine.killContainerd()
  await engine.restartContainerd()
  await stillTheSame()
})

test('the engine hangs for a while', async () => {
  const node = whole.node('acme-2')
  whole.lab.pauseEngine(node)
  const api = whole.api('acme')
  expect((await api.put('/api/v1/deployments/steady', { replicas: 6 })).status).toBe(200)
  await waitUntil(async () => (await placementsOf(api, 'steady')).length === 6, {
    what: 'two more are placed',
  })
  whole.lab.resumeEngine(node)
  await waitUntil(async () => (await everyId()).length === 6, { what: 'six run', timeoutMs: 60_000 })
  expect(await everyId()).toEqual(expect.arrayContaining(before))
  await api.put('/api/v1/deployments/steady', { replicas: 4 })
  await waitUntil(async () => (await everyId()).length === 4, { what: 'four are left', timeoutMs: 60_000 })
  await stillTheSame()
})

test('the control plane is away, and an agent starts meanwhile', async () => {
  await whole.replaceGateway(async () => {
    await whole.lab.restartAgent(whole.node('acme-1'))
    expect(await everyId()).toEqual(before)
  })
  await stillTheSame()
})

test('the wire is cut and mended', async () => {
  const node = whole.node('acme-2')
  whole.lab.partition(node, 'control-plane')
  expect(await everyId()).toEqual(before)
  whole.lab.heal()
  await stillTheSame()
})

test('a machine loses its power and boots again: the same containers are started', async () => {
  const node = whole.node('acme-1')
  await whole.lab.powerOff(node)
  await whole.lab.powerOn(node)
  await waitUntil(async () => (await everyId()).length === 4, { what: 'all are there', timeoutMs: 60_000 })
  await stillTheSame()
})

// A tenant releases a machine: its replicas move to the tenant's other nodes, the claim ends when no replica is left, and
// only then can another tenant claim the machine. A dead machine is removed by force.

import { waitUntil } from '@holdfast/testkit'
import { containersOn, eventsOf, placementsOf, untilPhase } from '@holdfast/testkit/scenarios/lab-reads'
import { type LabPlatform, startLabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { afterAll, beforeAll, expect, test } from 'vitest'

let cluster: LabPlatform

beforeAll(async () => {
  cluster = await startLabPlatform({ nodesPerTenant: { acme: 3, globex: 1 } })
  const api = cluster.api('acme')
  const body = { kind: 'Deployment', name: 'web', image: cluster.image, replicas: 3 }
  expect((await api.post('/api/v1/deployments', body)).status).toBe(201)
  await untilPhase(api, 'web', 'Running')
})
afterAll(() => cluster?.stop())

const nodesOfWeb = async (): Promise<string[]> =>
  (await placementsOf(cluster.api('acme'), 'web')).map(({ nodeName }) => nodeName).sort()

test('moves the replicas of a released node and then frees its name', async () => {
  const api = cluster.api('acme')
  expect(await nodesOfWeb()).toEqual(['acme-1', 'acme-2', 'acme-3'])
  const released = await api.delete('/api/v1/nodes/acme-3/claim', { 'x-tenant-id': cluster.platform.acme.id })
  expect(released.status).toBe(202)
  await waitUntil(async () => (await eventsOf(api, 'node.claim_released')).length === 1, {
    what: 'the claim has ended',
    timeoutMs: 60_000,
  })
  expect(await containersOn(cluster, 'acme-3')).toEqual([])
  await untilPhase(api, 'web', 'Running')
  expect(new Set(await nodesOfWeb())).toEqual(new Set(['acme-1', 'acme-2']))
  const issued = await cluster.api('globex').post('/api/v1/nodes/join-tokens', { nodeName: 'acme-3' })
  expect(issued.status).toBe(201)
})

test('removes a dead machine by force and replaces its replicas', async () => {
  const api = cluster.api('acme')
  await cluster.lab.powerOff(cluster.node('acme-2'))
  const { body } = await api.get('/api/v1/nodes')
  const dead = Object.values(Object(body['items'])).find((node) => Object(node).name === 'acme-2')
  expect((await api.delete(`/api/v1/nodes/${Object(dead).id}?force=true`)).status).toBe(202)
  await waitUntil(async () => (await nodesOfWeb()).join() === 'acme-1,acme-1,acme-1', {
    what: 'all replicas are on the last node',
  })
  await untilPhase(api, 'web', 'Running')
  expect(await containersOn(cluster, 'acme-1')).toEqual(['web running', 'web.1 running', 'web.2 running'])
})

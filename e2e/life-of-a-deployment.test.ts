// An accepted deployment becomes healthy containers on the tenant's own nodes. When the deployment is deleted, the
// containers are removed.

import { waitUntil, watchMachineStalls } from '@holdfast/testkit'
import {
  containersOn,
  eventsOf,
  inspect,
  placementsOf,
  untilPhase,
} from '@holdfast/testkit/scenarios/lab-reads'
import { type LabPlatform, startLabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { afterAll, beforeAll, expect, test } from 'vitest'

const ACME = ['acme-1', 'acme-2', 'acme-3', 'acme-4', 'acme-5']
const CHECK = { type: 'exec', command: ['nc', '-w', '1', '127.0.0.1', '8080'] }
const CAPABILITIES = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETUID', 'SETGID', 'KILL', 'NET_BIND_SERVICE']

let cluster: LabPlatform

beforeAll(async () => {
  cluster = await startLabPlatform({
    nodesPerTenant: { acme: 5, globex: 1 },
    offers: {
      'acme-1': { labels: { disk: 'ssd' } },
      'acme-2': { labels: { disk: 'hdd' } },
      'acme-3': { labels: { disk: 'ssd' }, cpuMillis: 500 },
      'acme-4': { labels: { disk: 'ssd' } },
    },
  })
})
afterAll(() => cluster?.stop())

const everywhere = async (): Promise<string[]> =>
  (await Promise.all(ACME.map((name) => containersOn(cluster, name)))).flat().sort()

test('runs three healthy replicas on three nodes of the tenant, and nowhere else', async () => {
  const api = cluster.api('acme')
  const body = { kind: 'Deployment', name: 'web', image: cluster.image, replicas: 3, healthCheck: CHECK }
  expect((await api.post('/api/v1/deployments', body)).status).toBe(201)
  await untilPhase(api, 'web', 'Running')
  const placed = await placementsOf(api, 'web')
  expect(placed.map(({ state }) => state)).toEqual(['ready', 'ready', 'ready'])
  expect(new Set(placed.map(({ nodeName }) => nodeName)).size).toBe(3)
  for (const { nodeName } of placed) expect(await containersOn(cluster, nodeName)).toEqual(['web running'])
  expect(await everywhere()).toHaveLength(3)
  expect(await containersOn(cluster, 'globex-1')).toEqual([])
})

test('sets the health check on the container, and no option outside of the safe set', async () => {
  const [placed] = await placementsOf(cluster.api('acme'), 'web')
  const { Config, HostConfig, NetworkSettings } = await inspect(cluster, placed?.nodeName ?? '', 'web')
  expect(Config.Healthcheck.Test).toEqual(['CMD', ...CHECK.command])
  expect(HostConfig).toMatchObject({
    Privileged: false,
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges'],
    PidsLimit: 1024,
    RestartPolicy: { Name: 'unless-stopped' },
    LogConfig: { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '3' } },
    PidMode: '',
    UTSMode: '',
  })
  const added: string[] = HostConfig.CapAdd
  expect(added.map((name) => name.replace(/^CAP_/, '')).sort()).toEqual([...CAPABILITIES].sort())
  for (const option of ['Binds', 'Devices', 'Mounts', 'VolumesFrom', 'PortBindings', 'Sysctls'])
    expect(Object.keys(HostConfig[option] ?? {}), option).toEqual([])
  expect(Object.keys(NetworkSettings.Networks)).toEqual([`hf-${cluster.platform.acme.id}`])
})

test('resolves the name of a deployment from another container on the same node', async () => {
  const api = cluster.api('acme')
  const [placed] = await placementsOf(api, 'web')
  const body = {
    kind: 'Deployment',
    name: 'caller',
    image: cluster.image,
    replicas: 1,
    placement: { affinity: ['web'] },
  }
  expect((await api.post('/api/v1/deployments', body)).status).toBe(201)
  await untilPhase(api, 'caller', 'Running')
  const [caller] = await placementsOf(api, 'caller')
  expect((await placementsOf(api, 'web')).map(({ nodeName }) => nodeName)).toContain(caller?.nodeName)
  const node = cluster.node(caller?.nodeName ?? '')
  expect(await node.exec(['docker', 'exec', 'caller', 'nslookup', 'web'])).toMatch(/Address.*: \d+\.\d+/)
  expect(placed).toBeDefined()
  await api.delete('/api/v1/deployments/caller')
  await waitUntil(async () => (await everywhere()).length === 3, { what: 'the caller is gone' })
})

test('stops all containers at 0 replicas and removes the deployment on DELETE', async () => {
  const api = cluster.api('acme')
  expect((await api.put('/api/v1/deployments/web', { replicas: 0 })).status).toBe(200)
  await untilPhase(api, 'web', 'Stopped')
  await waitUntil(async () => (await everywhere()).length === 0, { what: 'nothing runs' })
  expect((await api.put('/api/v1/deployments/web', { replicas: 2 })).status).toBe(200)
  await untilPhase(api, 'web', 'Running')
  expect(await everywhere()).toEqual(['web running', 'web running'])
  expect((await api.delete('/api/v1/deployments/web')).status).toBe(202)
  await waitUntil(async () => (await api.get('/api/v1/deployments/web')).status === 404, {
    what: 'it is gone',
  })
  expect(await everywhere()).toEqual([])
})

test('names every node with every reason when nothing fits, and places within 2 s of one fix', async () => {
  const api = cluster.api('acme')
  const { body: listed } = await api.get('/api/v1/nodes')
  const ids = new Map<string, string>(
    Object.values(Object(listed['items'])).map((node) => [Object(node).name, Object(node).id]),
  )
  const change = (name: string, verb: string) => api.post(`/api/v1/nodes/${ids.get(name)}/${verb}`, undefined)
  for (const name of ['acme-1', 'acme-2', 'acme-5']) expect((await change(name, 'cordon')).status).toBe(200)
  const operator = cluster.platform.api()
  const asAcme = { 'x-tenant-id': cluster.platform.acme.id }
  const patched = await operator.send(
    'PATCH',
    `/api/v1/nodes/${ids.get('acme-4')}`,
    { controlPlane: true },
    asAcme,
  )
  expect(patched.status).toBe(200)
  const wanted = {
    kind: 'Deployment',
    name: 'picky',
    image: cluster.image,
    replicas: 1,
    resources: { cpuMillis: 1000, memoryBytes: 0 },
    placement: { constraints: [{ label: 'disk', operator: 'in', values: ['ssd'] }] },
  }
  expect((await api.post('/api/v1/deployments', wanted)).status).toBe(201)
  const event = await expect
    .poll(async () =>
      (await eventsOf(api, 'deployment.unschedulable')).find(({ subject }) => subject.name === 'picky'),
    )
    .toBeDefined()
    .then(async () =>
      (await eventsOf(api, 'deployment.unschedulable')).find(({ subject }) => subject.name === 'picky'),
    )
  const candidates: { nodeName: string; refusals: { filter: string; fix: string }[] }[] = Object(
    event?.data,
  ).candidates
  const reasons = new Map(
    candidates.map(({ nodeName, refusals }) => [nodeName, refusals.map(({ filter }) => filter)]),
  )
  expect(Object.fromEntries(reasons)).toEqual({
    'acme-1': ['cordon'],
    'acme-2': ['cordon', 'label_constraint'],
    'acme-3': ['resources'],
    'acme-4': ['control_plane_node'],
    'acme-5': ['cordon', 'label_constraint'],
  })
  for (const { refusals } of candidates)
    for (const refusal of refusals)
      expect(refusal).toMatchObject({
        fix: expect.stringMatching(/.{10}/),
        code: expect.any(String),
        required: expect.anything(),
        reported: expect.anything(),
      })
  const { body: why } = await api.get('/api/v1/deployments/picky/why')
  expect(Object(why['candidates'])).toEqual(candidates)
  const stalls = await watchMachineStalls()
  const fixedAt = performance.now()
  expect((await change('acme-1', 'uncordon')).status).toBe(200)
  await waitUntil(async () => (await placementsOf(api, 'picky')).length === 1, { what: 'it is placed' })
  const tookMs = performance.now() - fixedAt
  // Applying the fix and the new placement each wait for a write to disk, so the time for which the disk stalls is
  // subtracted.
  expect(tookMs - 3 * (await stalls())).toBeLessThan(2000)
  await untilPhase(api, 'picky', 'Running')
  expect(await containersOn(cluster, 'acme-1')).toEqual(['picky running'])
})

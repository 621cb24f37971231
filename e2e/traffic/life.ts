// An accepted deployment becomes healthy containers on the tenant's own nodes, and is explained while it fits nowhere. When the
// deployment is deleted, the containers are removed.

import { waitUntil } from '@holdfast/testkit'
import { containersOn, eventsOf, placementsOf, untilPhase } from '@holdfast/testkit/scenarios/lab-reads'
import { nodeCalled } from '@holdfast/testkit/scenarios/node-reads'
import { nodesOf } from '@holdfast/testkit/scenarios/routed-page'
import type { LabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { expect, test } from 'vitest'

const CHECK = { type: 'exec', command: ['nc', '-w', '1', '127.0.0.1', '8080'] }

export function testLife(cluster: () => LabPlatform): void {
  const api = () => cluster().api('acme')
  /** Name and state of the containers of these tests on a node. */
  const oursOn = async (node: string): Promise<string[]> =>
    (await containersOn(cluster(), node)).filter((line) => /^(?:web|caller|picky)[. ]/.test(line))
  const everywhere = async (): Promise<string[]> =>
    (await Promise.all(nodesOf(cluster(), 'acme').map(oursOn))).flat().sort()

  test('runs three healthy replicas on three nodes of the tenant, and nowhere else', async () => {
    const body = { kind: 'Deployment', name: 'web', image: cluster().image, replicas: 3, healthCheck: CHECK }
    expect((await api().post('/api/v1/deployments', body)).status).toBe(201)
    await untilPhase(api(), 'web', 'Running')
    const placed = await placementsOf(api(), 'web')
    expect(placed.map(({ state }) => state)).toEqual(['ready', 'ready', 'ready'])
    expect(new Set(placed.map(({ nodeName }) => nodeName)).size).toBe(3)
    for (const { nodeName } of placed) expect(await oursOn(nodeName)).toEqual(['web running'])
    expect(await containersOn(cluster(), 'globex-1')).toEqual([])
  })

  test('resolves the name of a deployment from another container on the same node', async () => {
    const placement = { affinity: ['web'] }
    const body = { kind: 'Deployment', name: 'caller', image: cluster().image, replicas: 1, placement }
    expect((await api().post('/api/v1/deployments', body)).status).toBe(201)
    await untilPhase(api(), 'caller', 'Running')
    const [caller] = await placementsOf(api(), 'caller')
    const node = cluster().node(caller?.nodeName ?? '')
    expect(await node.exec(['docker', 'exec', 'caller', 'nslookup', 'web'])).toMatch(/Address.*: \d+\.\d+/)
    await api().delete('/api/v1/deployments/caller')
    await waitUntil(async () => (await everywhere()).length === 3, { what: 'the caller is gone' })
  })

  test('stops all containers at 0 replicas and removes the deployment on DELETE', async () => {
    expect((await api().put('/api/v1/deployments/web', { replicas: 0 })).status).toBe(200)
    await untilPhase(api(), 'web', 'Stopped')
    await waitUntil(async () => (await everywhere()).length === 0, { what: 'nothing runs' })
    expect((await api().put('/api/v1/deployments/web', { replicas: 2 })).status).toBe(200)
    await untilPhase(api(), 'web', 'Running')
    expect(await everywhere()).toEqual(['web running', 'web running'])
    expect((await api().delete('/api/v1/deployments/web')).status).toBe(202)
    const isGone = async () => (await api().get('/api/v1/deployments/web')).status === 404
    await waitUntil(isGone, { what: 'it is gone' })
    expect(await everywhere()).toEqual([])
  })

  test('names every node with every reason when nothing fits, and places once one node is fixed', async () => {
    const change = async (name: string, verb: string) => {
      const { id } = await nodeCalled(cluster(), name)
      expect((await api().post(`/api/v1/nodes/${id}/${verb}`, undefined)).status).toBe(200)
    }
    for (const name of ['acme-1', 'acme-2']) await change(name, 'cordon')
    const wanted = {
      kind: 'Deployment',
      name: 'picky',
      image: cluster().image,
      replicas: 1,
      resources: { cpuMillis: 1000, memoryBytes: 0 },
      placement: { constraints: [{ label: 'disk', operator: 'in', values: ['ssd'] }] },
    }
    expect((await api().post('/api/v1/deployments', wanted)).status).toBe(201)
    const candidates = await waitUntil(() => candidatesOf('picky'), { what: 'it is reported' })
    const reasons = candidates.map(({ nodeName, refusals }) => [
      nodeName,
      refusals.map(({ filter }) => filter),
    ])
    expect(Object.fromEntries(reasons)).toEqual({
      'acme-1': ['cordon'],
      'acme-2': ['cordon', 'label_constraint'],
      'acme-3': ['resources'],
    })
    for (const refusal of candidates.flatMap(({ refusals }) => refusals))
      expect(refusal).toMatchObject({
        fix: expect.stringMatching(/.{10}/),
        code: expect.any(String),
        required: expect.anything(),
        reported: expect.anything(),
      })
    const { body: why } = await api().get('/api/v1/deployments/picky/why')
    expect(why['candidates']).toEqual(candidates)
    for (const name of ['acme-1', 'acme-2']) await change(name, 'uncordon')
    await untilPhase(api(), 'picky', 'Running')
    expect(await oursOn('acme-1')).toEqual(['picky running'])
    expect((await api().delete('/api/v1/deployments/picky')).status).toBe(202)
  })

  interface Candidate {
    readonly nodeName: string
    readonly refusals: readonly { readonly filter: string }[]
  }
  /** The nodes that the event about the deployment names; undefined as long as there is no event. */
  async function candidatesOf(name: string): Promise<Candidate[] | undefined> {
    const events = await eventsOf(api(), 'deployment.unschedulable')
    const data = events.find(({ subject }) => subject.name === name)?.data
    return data === undefined ? undefined : Object(data).candidates
  }
}

// A tenant releases a machine: its replicas move to the tenant's other nodes, the claim ends when no replica is left, and
// only then can another tenant claim the machine. A dead machine is removed by force.

import { waitUntil } from '@holdfast/testkit'
import { containersOn, eventsOf, placementsOf, untilPhase } from '@holdfast/testkit/scenarios/lab-reads'
import { nodeCalled } from '@holdfast/testkit/scenarios/node-reads'
import type { LabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { expect, test } from 'vitest'

/** The nodes acme-1, acme-2 and acme-3 have replicas of the deployment; in the end only acme-1 is left. */
export function testReleasing(cluster: () => LabPlatform, name: string): void {
  const nodesOfReplicas = async (): Promise<string[]> =>
    (await placementsOf(cluster().api('acme'), name)).map(({ nodeName }) => nodeName)

  test('moves the replicas of a released node and then frees its name', async () => {
    const api = cluster().api('acme')
    expect(new Set(await nodesOfReplicas())).toEqual(new Set(['acme-1', 'acme-2', 'acme-3']))
    const asTenant = { 'x-tenant-id': cluster().platform.acme.id }
    const released = await api.delete('/api/v1/nodes/acme-3/claim', asTenant)
    expect(released.status).toBe(202)
    await waitUntil(async () => (await eventsOf(api, 'node.claim_released')).length === 1, {
      what: 'the claim has ended',
      timeoutMs: 60_000,
    })
    expect(await containersOn(cluster(), 'acme-3')).toEqual([])
    await untilPhase(api, name, 'Running')
    expect(new Set(await nodesOfReplicas())).toEqual(new Set(['acme-1', 'acme-2']))
    const issued = await cluster().api('globex').post('/api/v1/nodes/join-tokens', { nodeName: 'acme-3' })
    expect(issued.status).toBe(201)
  })

  test('removes a dead machine by force and replaces its replicas', async () => {
    const api = cluster().api('acme')
    const all = (await nodesOfReplicas()).length
    await cluster().lab.powerOff(cluster().node('acme-2'))
    const { id } = await nodeCalled(cluster(), 'acme-2')
    expect((await api.delete(`/api/v1/nodes/${id}?force=true`)).status).toBe(202)
    await waitUntil(async () => (await nodesOfReplicas()).every((node) => node === 'acme-1'), {
      what: 'all replicas are on the last node',
    })
    await untilPhase(api, name, 'Running')
    const running = (await containersOn(cluster(), 'acme-1')).filter((line) => line.startsWith(name))
    expect(running).toEqual(
      Array.from({ length: all }, (_, at) => (at === 0 ? `${name} running` : `${name}.${at} running`)),
    )
  })
}

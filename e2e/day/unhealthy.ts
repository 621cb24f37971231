// A replica whose health check begins to fail makes the deployment Degraded; when the replica recovers, the deployment is
// Running again.

import { waitUntil } from '@holdfast/testkit'
import { placementsOf, untilPhase } from '@holdfast/testkit/scenarios/lab-reads'
import type { LabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { expect, test } from 'vitest'

export function testUnhealthy(cluster: () => LabPlatform): void {
  test('a deployment is Degraded while its health check fails and Running once it passes again', async () => {
    const api = cluster().api('acme')
    const body = {
      kind: 'Deployment',
      name: 'moody',
      image: cluster().image,
      replicas: 1,
      healthCheck: { type: 'exec', command: ['test', '!', '-e', '/ill'], interval: '5s', retries: 3 },
    }
    expect((await api.post('/api/v1/deployments', body)).status).toBe(201)
    await untilPhase(api, 'moody', 'Running')
    const [placed] = await placementsOf(api, 'moody')
    const node = cluster().node(placed?.nodeName ?? '')
    await node.exec(['docker', 'exec', 'moody', 'touch', '/ill'])
    await untilPhase(api, 'moody', 'Degraded')
    const { body: record } = await api.get('/api/v1/deployments/moody')
    expect(record['status']).toMatchObject({
      reason: 'unhealthy',
      replicas: { desired: 1, placed: 1, ready: 0 },
    })
    await node.exec(['docker', 'exec', 'moody', 'rm', '/ill'])
    await untilPhase(api, 'moody', 'Running')
    // The first revision is still watched, so its failure is published as such, and not as degraded.
    await waitUntil(
      async () => {
        const { body: listed } = await api.get('/api/v1/events?subject=moody&limit=500')
        const types = Object.values(Object(listed['items'])).map((event) => Object(event).type)
        return types.includes('deployment.failed') && types.includes('deployment.running')
      },
      { what: 'both events were emitted' },
    )
    expect((await api.delete('/api/v1/deployments/moody')).status).toBe(202)
  })
}

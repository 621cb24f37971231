// Usage from the heartbeat of an agent to the metrics endpoints and `holdfast top`, on a real platform.

import type { DeploymentMetrics, NodeMetrics } from '@holdfast/contract'
import { type CliWorld, startCliWorld } from '@holdfast/testkit/cli/start-world'
import { makeToken } from '@holdfast/testkit/platform/set-up'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const MIB = 1024 ** 2
let world: CliWorld

beforeAll(async () => {
  world = await startCliWorld(['n1', 'n2'], {
    usage: (running) => ({
      ageMs: 0,
      node: { cpuMillis: 1000, memoryBytes: 512 * MIB, loadMillis: 1500, diskUsedBytes: 25, diskBytes: 100 },
      containers: running.map((id) => ({
        id,
        cpuMillis: 250,
        memoryBytes: 64 * MIB,
        rx: 10,
        tx: 20,
        pids: 3,
      })),
      unread: 2,
    }),
  })
  const input = `kind: Deployment\nname: web\nimage: ${world.platform.image}\nreplicas: 2\n`
  const applied = await world.cli(['apply', '-f', '-', '--wait'], { input })
  if (applied.code !== 0) throw new Error(applied.stderr)
})
afterAll(() => world.stop())

const known = (values: readonly (number | null)[]) => values.filter((value) => value !== null)

describe('the metrics endpoints', () => {
  const viewer = async () =>
    world.platform.api(
      await makeToken(world.platform.api(world.platform.platformToken), world.platform.acme.id, 'viewer'),
    )

  test('return a deployment with the mean per ready replica to a viewer', async () => {
    const api = await viewer()
    const read = async (query = ''): Promise<DeploymentMetrics> =>
      (await api.get(`/api/v1/deployments/web/metrics${query}`)).body as unknown as DeploymentMetrics
    await expect.poll(async () => (await read()).lastMinute.measured).toBe(2)
    const metrics = await read()
    expect(metrics).toMatchObject({ step: 10, unreachable: [] })
    expect(metrics.lastMinute).toEqual({ ready: 2, measured: 2, cpuMillis: 250, memoryBytes: 64 * MIB })
    expect(metrics.series.map(({ replica, ready, pids }) => [replica, ready, pids])).toEqual([
      [1, true, 3],
      [2, true, 3],
    ])
    const [series] = metrics.series
    // Most of the hour lies before the first sample, and stays empty.
    expect(series?.cpuMillis).toHaveLength(360)
    expect(series?.cpuMillis[0]).toBeNull()
    expect(new Set(known(series?.rx ?? []))).toEqual(new Set([10]))
    expect((await read('?since=60s')).series[0]?.cpuMillis).toHaveLength(6)
    expect((await api.get('/api/v1/deployments/web/metrics?since=noon')).body).toMatchObject({
      code: 'query_parameter_invalid',
    })
  })

  test('return a node with its replicas, and nothing of the node of another tenant', async () => {
    const api = await viewer()
    const { items } = (await api.get('/api/v1/nodes')).body as unknown as { items: { id: string }[] }
    const id = items[0]?.id
    const metrics = (await api.get(`/api/v1/nodes/${id}/metrics?since=1m`)).body as unknown as NodeMetrics
    expect(metrics).toMatchObject({ unread: 2, omitted: 0, node: { diskBytes: 100 } })
    expect(metrics.node.lastMinute).toEqual({ cpuMillis: 1000, memoryBytes: 512 * MIB })
    expect(metrics.series).toMatchObject([{ deployment: 'web', node: 'n1', ready: true }])
    const foreign = world.platform.api(world.platform.globex.token)
    expect((await foreign.get(`/api/v1/nodes/${id}/metrics`)).body).toMatchObject({ code: 'node_not_found' })
  })
})

describe('holdfast top', () => {
  test('nodes', async () => {
    const { code, stdout } = await world.cli(['top', 'nodes'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^NAME +CPU +CPU% +MEMORY +MEMORY% +LOAD +DISK%\n/)
    expect(stdout).toMatch(/^n1 +1000m +50% +512MiB +13% +1\.50 +25%$/m)
  })

  test('deployments', async () => {
    const { stdout } = await world.cli(['top', 'deployments'])
    expect(stdout).toMatch(/^web +2\/2 +500m +128MiB +250m +64MiB$/m)
  })

  test('replicas, of all deployments or of one, as a table and as data', async () => {
    const { stdout } = await world.cli(['top', 'replicas', '-o', 'wide'])
    expect(stdout).toMatch(/^web +1 +n[12] +yes +250m +- +64MiB +10B\/s +20B\/s +3$/m)
    const { items } = JSON.parse((await world.cli(['top', 'replicas', 'web', '-o', 'json'])).stdout)
    expect(items).toMatchObject([{ cpuMillis: 250, throttledPercent: null }, { memoryBytes: 64 * MIB }])
    expect(await world.cli(['top', 'replicas', 'absent'])).toMatchObject({ code: 5 })
  })
})

// The day of an operator: people use the command line, containers fall ill, agents, engines, containerd, machines, the network and
// the control plane fail, and machines leave. Containers that had no reason to change still run after each fault and were not
// recreated, and no assignment ever has two containers. If the tests run a build, each server is on a machine of its own.

import { serverReplicas } from '@holdfast/server/store/records'
import { waitUntil } from '@holdfast/testkit'
import { ROOT, testedBuild } from '@holdfast/testkit/builds/programs'
import { inRun } from '@holdfast/testkit/long-run'
import { containerIds, placementsOf, untilPhase } from '@holdfast/testkit/scenarios/lab-reads'
import { nodesOf } from '@holdfast/testkit/scenarios/routed-page'
import { type LabPlatform, startLabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testAway } from './day/away.ts'
import { testCli } from './day/cli.ts'
import { testReleasing } from './day/releasing.ts'
import { testUnhealthy } from './day/unhealthy.ts'

/** One node with each Docker Engine line. */
const BOTH_LINES = ['acme-1', 'acme-2']
const CHECK = { type: 'exec', command: ['nc', '-w', '1', '127.0.0.1', '8080'] }
const PATIENCE = { timeoutMs: 60_000 }

let cluster: LabPlatform

beforeAll(async () => {
  cluster = await startLabPlatform({
    nodesPerTenant: { acme: 3, globex: 0 },
    etcdMembers: inRun(1, 3),
    serversOnMachines: true,
  })
})
afterAll(() => cluster?.stop())

const theCluster = (): LabPlatform => cluster

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

describe('beside each other', { concurrent: true }, () => {
  testCli(theCluster)
  testUnhealthy(theCluster)
})

describe('a deployment', () => {
  let before: string[]

  beforeAll(async () => {
    const api = cluster.api('acme')
    const body = {
      kind: 'Deployment',
      name: 'steady',
      image: cluster.image,
      replicas: 4,
      healthCheck: CHECK,
      stopGracePeriod: '1s',
    }
    expect((await api.post('/api/v1/deployments', body)).status).toBe(201)
    await untilPhase(api, 'steady', 'Running')
    await untilContainers(4)
    before = await everyId()
  })

  const everyId = async (): Promise<string[]> =>
    (await Promise.all(nodesOf(cluster, 'acme').map((name) => containerIds(cluster, name)))).flat().sort()

  async function untilContainers(count: number): Promise<void> {
    await waitUntil(async () => (await everyId()).length === count, {
      what: `there are ${count} containers`,
      ...PATIENCE,
    })
  }

  async function scaleTo(replicas: number): Promise<void> {
    const { status, text } = await cluster.api('acme').put('/api/v1/deployments/steady', { replicas })
    expect(status, text).toBe(200)
  }

  /** Checks that the fault has not replaced any container, and that the deployment can still be scaled up and down. */
  async function stillTheSame(): Promise<void> {
    const api = cluster.api('acme')
    await untilPhase(api, 'steady', 'Running')
    await scaleTo(5)
    await untilContainers(5)
    expect(await everyId()).toEqual(expect.arrayContaining(before))
    await untilPhase(api, 'steady', 'Running')
    await scaleTo(4)
    await untilContainers(4)
    await waitUntil(async () => (await placementsOf(api, 'steady')).length === 4, {
      what: 'four placements are listed',
    })
    expect(await everyId()).toEqual(before)
  }

  test('keeps the same containers when the agent is killed and restarted', async () => {
    await cluster.lab.killAgent(cluster.node('acme-1'))
    expect(await everyId()).toEqual(before)
    await cluster.lab.restartAgent(cluster.node('acme-1'))
    await stillTheSame()
  })

  test('keeps the same containers when engines of both lines are killed and restarted', async () => {
    for (const name of BOTH_LINES) await cluster.lab.killEngine(cluster.node(name))
    for (const name of BOTH_LINES) await cluster.lab.restartEngine(cluster.node(name))
    await stillTheSame()
  })

  test('keeps the same containers when containerd of both lines is killed and restarted', async () => {
    for (const name of BOTH_LINES) await cluster.node(name).engine.killContainerd()
    for (const name of BOTH_LINES) await cluster.node(name).engine.restartContainerd()
    await stillTheSame()
  })

  test('keeps the same containers when the engine hangs for a while', async () => {
    const node = cluster.node('acme-2')
    cluster.lab.pauseEngine(node)
    const api = cluster.api('acme')
    await scaleTo(7)
    await waitUntil(
      async () =>
        (await placementsOf(api, 'steady')).some(
          ({ nodeName, state }) => nodeName === 'acme-2' && state !== 'ready',
        ),
      { what: 'one more is placed on the node' },
    )
    cluster.lab.resumeEngine(node)
    await untilContainers(7)
    expect(await everyId()).toEqual(expect.arrayContaining(before))
    await scaleTo(4)
    await untilContainers(4)
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
    await untilContainers(4)
    await stillTheSame()
  })
})

testAway(theCluster)

describe('a machine that leaves', () => testReleasing(theCluster, 'steady'))

// Machines disappear or fall sick while clients use the containers. If one or two machines disappear, their replicas are replaced
// on other nodes and only requests to the dead machines fail. If many nodes of several tenants disappear at once, a network
// failure is more likely, so no node is declared failed for a while. The replicas of a machine whose engine hangs, dies or stops,
// or whose disk is full, are replaced too, and no request fails after that, not even one that is sent to its own router.

import { setTimeout as pause } from 'node:timers/promises'
import { describeFailures, type LabNode, type Load, startLoad, waitUntil } from '@holdfast/testkit'
import { fillDisk, freeDisk } from '@holdfast/testkit/lab/bounded-disk'
import { inRun, LONG } from '@holdfast/testkit/long-run'
import { isOn } from '@holdfast/testkit/scenarios/check-history'
import {
  containerIds,
  containersOn,
  eventsOf,
  placementsOf,
  untilPhase,
  untilRevision,
} from '@holdfast/testkit/scenarios/lab-reads'
import { TIMES } from '@holdfast/testkit/scenarios/liveness-times'
import { emittedAt, nodeCalled, readyOn, untilStatus } from '@holdfast/testkit/scenarios/node-reads'
import {
  deployRouted,
  edgeOf,
  hostOf,
  nodesOf,
  pushPage,
  untilServed,
} from '@holdfast/testkit/scenarios/routed-page'
import { type LabPlatform, startLabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/** As shipped in the long run. Otherwise a tenth, and a sixth for the silence of the engine. */
const LIVENESS = {
  ...TIMES,
  massHoldSeconds: inRun(6, TIMES.massHoldSeconds),
  engineSilentSeconds: inRun(5, 30),
}
const FAILED_MS = LIVENESS.failedSeconds * 1000
const HELD_MS = FAILED_MS + LIVENESS.massHoldSeconds * 1000
/**
 * Tolerance between clocks: heartbeat gaps use a monotonic clock, but events carry wall-clock time, which may be
 * adjusted.
 */
const CLOCKS_MS = 100
/** How long a test waits at most for a status, a replacement or a recovery. */
const PATIENCE_MS = inRun(120_000, 900_000)
/** Requests per second to each node of a lost machine's tenant, and in all for each page beside a sick machine. */
const PER_NODE = inRun(12, 40)
const BESIDE_SICK = inRun(30, 100)
const TIMEOUT_MS = 20_000
/** Time for which an engine is sick at least, after its replicas are replaced. */
const FAULT_MS = inRun(0, 600_000)

/** Two replicas on three nodes: the router of the third node has no local replica and forwards requests to the others. */
const SHOP = { tenant: 'acme', name: 'shop', replicas: 2 }
const MART = { tenant: 'globex', name: 'mart', replicas: 2 }
/** A replica on each node, so that no node has room for a successor. */
const EVERYWHERE = { tenant: 'acme', name: 'everywhere', replicas: 3, oneOnEach: true }

let cluster: LabPlatform

beforeAll(async () => {
  cluster = await startLabPlatform({
    nodesPerTenant: { acme: 3, globex: 2 },
    settings: { liveness: LIVENESS },
    diskBytes: 3 * 1024 ** 3,
    poolSize: '256Mi',
  })
  await Promise.all([SHOP, MART].map((page) => deployRouted(cluster, page)))
})
afterAll(() => cluster?.stop())

const readyOnNodes = ({ tenant, name }: typeof SHOP): Promise<string[]> => readyOn(cluster, tenant, name)

async function containersOf(tenant: string): Promise<string[]> {
  return (await Promise.all(nodesOf(cluster, tenant).map((name) => containersOn(cluster, name)))).flat()
}

describe('machines that disappear', () => {
  /** Cuts the power of the nodes without closing any connection. */
  async function vanish(names: readonly string[]): Promise<void> {
    const { lab } = cluster
    const dead = names.map((name) => cluster.node(name))
    for (const node of dead) {
      for (const other of lab.nodes) if (other !== node) lab.partition(node, other)
      lab.partition(node, 'control-plane')
    }
    await Promise.all(dead.map((node) => lab.powerOff(node)))
  }

  /**
   * Sends a request to each node and waits for the answers. An answer is as good as a heartbeat, so the last contact with
   * each node is not earlier than the returned time, which is that of an event on the server's clock.
   */
  async function contactAll(names: readonly string[]): Promise<number> {
    const [first = ''] = names
    const { id } = await nodeCalled(cluster, first)
    const api = cluster.api(cluster.node(first).tenant)
    for (const verb of ['cordon', 'uncordon'])
      expect((await api.post(`/api/v1/nodes/${id}/${verb}`, undefined)).status).toBe(200)
    const beforeMs = (await emittedAt(cluster, 'node.cordoned', first)).at(-1) ?? 0
    await Promise.all(names.map(hear))
    return beforeMs
  }

  async function hear(name: string): Promise<void> {
    const { id } = await nodeCalled(cluster, name)
    const listContainers = () => cluster.api(cluster.node(name).tenant).get(`/api/v1/nodes/${id}/containers`)
    await waitUntil(async () => (await listContainers()).status === 200, { what: `${name} answers` })
  }

  /** Starts to send requests, so that connections to the machine are in use when the machine disappears. */
  async function use(nodes: readonly string[], { name }: typeof SHOP): Promise<Load> {
    const targets = nodes.map((node) => edgeOf(cluster, node))
    const perSecond = PER_NODE * nodes.length
    const load = startLoad({ targets, host: hostOf(name), perSecond, timeoutMs: TIMEOUT_MS })
    await waitUntil(() => load.result().answered >= perSecond * 2, { what: `${name} is used` })
    return load
  }

  test('replaces the replicas of two of five machines that lose power', async () => {
    const acme = cluster.api('acme')
    const [lost = '', other = ''] = await readyOnNodes(SHOP)
    const dead = [lost, 'globex-2']
    const left = (tenant: string) => nodesOf(cluster, tenant).filter((node) => !dead.includes(node))
    const loads = await Promise.all([SHOP, MART].map((page) => use(left(page.tenant), page)))
    const heardMs = await contactAll([lost])
    await vanish(dead)
    // Requests in progress on a dead machine may fail: retrying them on another node could run them twice.
    const inProgress = loads.map((load) => load.result().sent)
    await waitUntil(
      async () => {
        const on = await readyOnNodes(SHOP)
        return on.length === 2 && !on.includes(lost) && on.includes(other)
      },
      { what: 'the lost replica is replaced', timeoutMs: PATIENCE_MS, intervalMs: 100 },
    )
    await waitUntil(async () => (await readyOnNodes(MART)).join() === 'globex-1,globex-1', {
      what: 'the replica of the other tenant is replaced',
      timeoutMs: PATIENCE_MS,
    })
    await untilPhase(acme, SHOP.name, 'Running')
    const [failedMs = 0] = await emittedAt(cluster, 'node.failed', lost)
    expect(failedMs - heardMs).toBeGreaterThanOrEqual(FAILED_MS - CLOCKS_MS)
    expect((await eventsOf(acme, 'deployment.displaced')).map(({ subject }) => subject.name)).toEqual([
      'shop',
    ])
    const degraded = await eventsOf(acme, 'deployment.degraded')
    expect(degraded.map(({ reason }) => reason)).toEqual(['node_lost'])
    for (const node of left('acme')) await untilServed(cluster, node, SHOP.name)
    for (const [at, load] of loads.entries()) {
      const { sent, failures, slowestMs } = await load.stop()
      console.log(
        `${sent} requests to the nodes that were left: ${failures.length} failed, slowest ${slowestMs} ms`,
      )
      const later = failures.filter(({ number }) => number >= (inProgress[at] ?? 0))
      expect(later, describeFailures(later)).toEqual([])
    }
  })

  test('removes stale containers from machines that return, and places on them again', async () => {
    const acme = cluster.api('acme')
    const dead = cluster.lab.nodes.filter((node) => !isOn(node)).map(({ name }) => name)
    expect(dead).toHaveLength(2)
    cluster.lab.heal()
    await Promise.all(dead.map((name) => cluster.lab.powerOn(cluster.node(name))))
    await untilStatus(cluster, dead, 'ready', PATIENCE_MS)
    for (const name of dead)
      await waitUntil(async () => (await containersOn(cluster, name)).length === 0, {
        what: `nothing stale is left on ${name}`,
      })
    // The engine no longer has the container before the agent has reported the removal, so the test polls the API.
    await waitUntil(async () => (await placementsOf(acme, SHOP.name)).length === 2, {
      what: 'two placements are listed',
    })
    expect(await containersOf('acme')).toHaveLength(2)
    expect(await containersOf('globex')).toHaveLength(2)
    expect((await acme.put('/api/v1/deployments/shop', { replicas: 3 })).status).toBe(200)
    const [returned = ''] = dead
    await waitUntil(async () => (await readyOnNodes(SHOP)).includes(returned), {
      what: `${returned} runs a replica again`,
      timeoutMs: PATIENCE_MS,
    })
    await untilPhase(acme, SHOP.name, 'Running')
    await untilServed(cluster, returned, SHOP.name)
    expect((await placementsOf(acme, SHOP.name)).map(({ replica }) => replica).sort()).toEqual([1, 2, 3])
    expect(await containersOf('acme')).toHaveLength(3)
  })

  test('declares no node failed for a while when three of five nodes of two tenants fall silent at once', async () => {
    const silent = ['acme-1', 'acme-2', 'globex-1']
    const heardMs = await contactAll(silent)
    for (const name of silent) cluster.lab.partition(cluster.node(name), 'control-plane')
    await untilStatus(cluster, silent, 'unreachable', PATIENCE_MS)
    await waitUntil(massSilence, { what: 'the gauge of mass failures is 1' })
    await untilStatus(cluster, silent, 'failed', PATIENCE_MS)
    // Only the last node.failed event of each node is used, because a node that failed in an earlier test has several.
    for (const name of silent) {
      const failedMs = (await emittedAt(cluster, 'node.failed', name)).at(-1) ?? 0
      expect(failedMs - heardMs, name).toBeGreaterThanOrEqual(HELD_MS - CLOCKS_MS)
    }
    cluster.lab.heal()
    await untilStatus(cluster, silent, 'ready', PATIENCE_MS)
    await waitUntil(async () => (await containersOf('acme')).length === 3, { what: 'nothing runs twice' })
  })

  async function massSilence(): Promise<boolean> {
    const { text } = await cluster.platform.api().get('/metrics')
    return /^holdfast_mass_silence 1$/m.test(text)
  }
})

describe('a sick machine', () => {
  const PAGES = [SHOP, EVERYWHERE]
  const CONTAINERS = SHOP.replicas + EVERYWHERE.replicas

  beforeAll(async () => {
    const scaled = await cluster.api('acme').put('/api/v1/deployments/shop', { replicas: SHOP.replicas })
    expect(scaled.status, scaled.text).toBe(200)
    await deployRouted(cluster, EVERYWHERE)
    await untilNothingTwice()
  })

  interface Fault {
    readonly name: string
    begin(node: LabNode): Promise<void> | void
    end(node: LabNode): Promise<void> | void
  }

  const HANGS: Fault = {
    name: 'hangs',
    begin: (node) => cluster.lab.pauseEngine(node),
    end: (node) => cluster.lab.resumeEngine(node),
  }
  const restart = (node: LabNode): Promise<void> => cluster.lab.restartEngine(node)
  const DIES: Fault = { name: 'is killed', begin: (node) => cluster.lab.killEngine(node), end: restart }
  const STOPS: Fault = {
    name: 'stops with its containers',
    begin: (node) => cluster.lab.stopEngine(node),
    end: restart,
  }
  const FAULTS = LONG ? [STOPS, DIES, HANGS] : [STOPS, HANGS]

  const nodes = (): string[] => nodesOf(cluster, 'acme')

  /** Loads both pages through the routers of all nodes. */
  const loadAll = (): Load[] =>
    PAGES.map(({ name }) =>
      startLoad({
        targets: nodes().map((node) => edgeOf(cluster, node)),
        host: hostOf(name),
        perSecond: BESIDE_SICK,
      }),
    )

  /** Ends the loads; returns the number of requests. */
  async function expectNoFailure(loads: readonly Load[]): Promise<number> {
    const results = await Promise.all(loads.map((load) => load.stop()))
    const failures = results.flatMap((result) => result.failures)
    expect(failures, describeFailures(failures)).toEqual([])
    const sent = results.map((result) => result.sent)
    expect(Math.min(...sent)).toBeGreaterThan(BESIDE_SICK)
    return sent.reduce((sum, one) => sum + one, 0)
  }

  /** Waits until the containers of all machines are exactly those of the placed replicas. */
  async function untilNothingTwice(): Promise<void> {
    const placed = async () => {
      const all = await Promise.all(PAGES.map(({ name }) => placementsOf(cluster.api('acme'), name)))
      return all.flat().map(({ containerId }) => containerId)
    }
    const found = async () => (await Promise.all(nodes().map((node) => containerIds(cluster, node)))).flat()
    let seen = ''
    await waitUntil(
      async () => {
        const [expected, actual] = await Promise.all([placed(), found()])
        seen = `${actual.join()} instead of ${expected.join()}`
        return actual.length === CONTAINERS && actual.toSorted().join() === expected.toSorted().join()
      },
      { what: 'every replica has one container', timeoutMs: PATIENCE_MS, seen: () => seen },
    )
  }

  /** Waits until both pages are ready on other nodes and served by the routers of all nodes. */
  async function untilReplaced(sick: string): Promise<void> {
    await waitUntil(
      async () => {
        const [moved, stayed] = await Promise.all(PAGES.map(readyOnNodes))
        const areStaying = stayed?.length === EVERYWHERE.replicas - 1
        return moved?.length === SHOP.replicas && !moved.includes(sick) && areStaying
      },
      { what: 'its replicas are replaced or lost', timeoutMs: PATIENCE_MS, intervalMs: 100 },
    )
    for (const node of nodes()) for (const { name } of PAGES) await untilServed(cluster, node, name)
  }

  test.each(FAULTS)(
    'no request fails once the replicas of a machine are replaced whose engine $name',
    async (fault) => {
      const api = cluster.api('acme')
      for (const { name } of PAGES) await untilPhase(api, name, 'Running')
      const [sick = ''] = await readyOnNodes(SHOP)
      const recovered = (await emittedAt(cluster, 'node.recovered', sick)).length
      await fault.begin(cluster.node(sick))
      const loads: Load[] = []
      try {
        await untilStatus(cluster, [sick], 'degraded', PATIENCE_MS)
        expect(await nodeCalled(cluster, sick)).toMatchObject({ reason: 'engine_silent' })
        await untilReplaced(sick)
        loads.push(...loadAll())
        await pause(FAULT_MS)
        await waitUntil(() => loads.every((load) => load.result().answered > BESIDE_SICK), {
          what: 'both pages are used',
        })
      } finally {
        await fault.end(cluster.node(sick))
      }
      await untilStatus(cluster, [sick], 'ready', PATIENCE_MS)
      await untilNothingTwice()
      for (const { name } of PAGES) await untilPhase(api, name, 'Running')
      console.log(`engine ${fault.name}: ${await expectNoFailure(loads)} requests, none failed`)
      expect(await emittedAt(cluster, 'node.recovered', sick)).toHaveLength(recovered + 1)
    },
  )

  test('no request fails while the disk of a machine is full and its replicas are updated', async () => {
    const api = cluster.api('acme')
    const [sick = ''] = await readyOnNodes(SHOP)
    const image = await pushPage(cluster, SHOP, '2.0')
    const loads = loadAll()
    fillDisk(cluster.node(sick).disk)
    try {
      await untilStatus(cluster, [sick], 'degraded', PATIENCE_MS)
      expect(await nodeCalled(cluster, sick)).toMatchObject({ reason: 'disk_pressure' })
      const updated = await api.put(`/api/v1/deployments/${SHOP.name}`, { image })
      expect(updated.status, updated.text).toBe(200)
      await untilRevision(api, SHOP.name, Object(updated.body['deployment']).revision)
      expect(await readyOnNodes(SHOP)).not.toContain(sick)
      await untilNothingTwice()
      for (const node of nodes()) await untilServed(cluster, node, SHOP.name)
    } finally {
      freeDisk(cluster.node(sick).disk)
    }
    await untilStatus(cluster, [sick], 'ready', PATIENCE_MS)
    expect((await api.put(`/api/v1/deployments/${SHOP.name}`, { replicas: 3 })).status).toBe(200)
    await waitUntil(async () => (await readyOnNodes(SHOP)).includes(sick), {
      what: 'the machine runs a replica again',
      timeoutMs: PATIENCE_MS,
    })
    console.log(`full disk: ${await expectNoFailure(loads)} requests, none failed`)
  })
})

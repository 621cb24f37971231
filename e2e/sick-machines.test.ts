// One of three machines is sick: its engine hangs, dies or stops, or its disk is full, while its agent and its router work.
// The replicas that it can no longer look after are replaced, and no request fails after that, not even one that is sent
// to the router of the sick machine. Once the machine is well again, nothing runs twice.

import { type LabNode, type Load, startLoad, waitUntil } from '@holdfast/testkit'
import { fillDisk, freeDisk } from '@holdfast/testkit/lab/bounded-disk'
import { inRun, LONG } from '@holdfast/testkit/long-run'
import { containerIds, placementsOf, untilPhase, untilRevision } from '@holdfast/testkit/scenarios/lab-reads'
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
import { afterAll, beforeAll, expect, test } from 'vitest'

/** As shipped in the long run. Otherwise a tenth, and a sixth for the silence of the engine. */
const LIVENESS = { ...TIMES, engineSilentSeconds: inRun(5, 30) }
/** Time limits from the start of a fault: until the node is degraded, and until its replicas are replaced and served. */
const DEGRADED_MS = inRun(20_000, 45_000)
const REPLACED_MS = inRun(60_000, 180_000)
/** Disks are measured every 20 s in every run. */
const PRESSED_MS = 45_000
const WELL_MS = inRun(60_000, 120_000)
/** Time for which a fault lasts at least. */
const FAULT_MS = inRun(0, 600_000)
const PER_SECOND = inRun(30, 100)

/** One page moves to other nodes. The other has a replica on each node, so that no node has room for a successor. */
const MOVING = { tenant: 'acme', name: 'shop', replicas: 2 }
const STAYING = { tenant: 'acme', name: 'everywhere', replicas: 3, oneOnEach: true }
const CONTAINERS = MOVING.replicas + STAYING.replicas

let cluster: LabPlatform

beforeAll(async () => {
  cluster = await startLabPlatform({
    nodesPerTenant: { acme: 3, globex: 0 },
    settings: { liveness: LIVENESS },
    diskBytes: 3 * 1024 ** 3,
    poolSize: '256Mi',
  })
  for (const page of [MOVING, STAYING]) await deployRouted(cluster, page)
})
afterAll(() => cluster?.stop())

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

const nodes = (): string[] => nodesOf(cluster, MOVING.tenant)

/** Loads both pages through the routers of all nodes. */
const loadAll = (): Load[] =>
  [MOVING, STAYING].map(({ name }) =>
    startLoad({
      targets: nodes().map((node) => edgeOf(cluster, node)),
      host: hostOf(name),
      perSecond: PER_SECOND,
    }),
  )

/** Ends the loads; returns the number of requests. */
async function expectNoFailure(loads: readonly Load[]): Promise<number> {
  const results = await Promise.all(loads.map((load) => load.stop()))
  const failures = results.flatMap((result) => result.failures)
  expect(failures).toEqual([])
  const sent = results.map((result) => result.sent)
  expect(Math.min(...sent)).toBeGreaterThan(PER_SECOND)
  return sent.reduce((sum, one) => sum + one, 0)
}

/** Waits until the containers of all machines are exactly those of the placed replicas. */
async function untilNothingTwice(): Promise<void> {
  const placed = async () => {
    const all = await Promise.all(
      [MOVING, STAYING].map(({ name }) => placementsOf(cluster.api('acme'), name)),
    )
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
    { what: 'every replica has one container', timeoutMs: WELL_MS, seen: () => seen },
  )
}

/** Waits until both pages are ready on other nodes and served by the routers of all nodes. */
async function untilReplaced(sick: string): Promise<void> {
  await waitUntil(
    async () => {
      const [moved, stayed] = await Promise.all(
        [MOVING, STAYING].map(({ tenant, name }) => readyOn(cluster, tenant, name)),
      )
      return (
        moved?.length === MOVING.replicas && !moved.includes(sick) && stayed?.length === STAYING.replicas - 1
      )
    },
    { what: 'its replicas are replaced or lost', timeoutMs: REPLACED_MS, intervalMs: 100 },
  )
  for (const node of nodes()) for (const { name } of [MOVING, STAYING]) await untilServed(cluster, node, name)
}

const since = (begunMs: number): number => Math.round(performance.now() - begunMs)

test.each(FAULTS)(
  'no request fails once the replicas of a machine are replaced whose engine $name',
  async (fault) => {
    const api = cluster.api(MOVING.tenant)
    for (const { name } of [MOVING, STAYING]) await untilPhase(api, name, 'Running')
    const [sick = ''] = await readyOn(cluster, MOVING.tenant, MOVING.name)
    const recovered = (await emittedAt(cluster, 'node.recovered', sick)).length
    const begunMs = performance.now()
    await fault.begin(cluster.node(sick))
    const loads: Load[] = []
    try {
      await untilStatus(cluster, [sick], 'degraded', DEGRADED_MS)
      const degradedMs = since(begunMs)
      expect(await nodeCalled(cluster, sick)).toMatchObject({ reason: 'engine_silent' })
      await untilReplaced(sick)
      const replacedMs = since(begunMs)
      console.log(
        `engine ${fault.name}: degraded after ${degradedMs} ms, replaced and served after ${replacedMs} ms`,
      )
      expect([degradedMs <= DEGRADED_MS, replacedMs <= REPLACED_MS]).toEqual([true, true])
      loads.push(...loadAll())
      await waitUntil(
        () => since(begunMs) >= FAULT_MS && loads.every((load) => load.result().answered > PER_SECOND),
        {
          what: 'the fault lasted',
          timeoutMs: FAULT_MS + WELL_MS,
        },
      )
    } finally {
      await fault.end(cluster.node(sick))
    }
    await untilStatus(cluster, [sick], 'ready', WELL_MS)
    await untilNothingTwice()
    for (const { name } of [MOVING, STAYING]) await untilPhase(api, name, 'Running')
    console.log(`${await expectNoFailure(loads)} requests, none failed`)
    expect(await emittedAt(cluster, 'node.recovered', sick)).toHaveLength(recovered + 1)
  },
)

test('no request fails while the disk of a machine is full and its replicas are updated', async () => {
  const api = cluster.api(MOVING.tenant)
  const [sick = ''] = await readyOn(cluster, MOVING.tenant, MOVING.name)
  const image = await pushPage(cluster, MOVING, '2.0')
  const loads = loadAll()
  const begunMs = performance.now()
  fillDisk(cluster.node(sick).disk)
  try {
    await untilStatus(cluster, [sick], 'degraded', PRESSED_MS)
    const degradedMs = since(begunMs)
    expect(await nodeCalled(cluster, sick)).toMatchObject({ reason: 'disk_pressure' })
    const updated = await api.put(`/api/v1/deployments/${MOVING.name}`, { image })
    expect(updated.status, updated.text).toBe(200)
    await untilRevision(api, MOVING.name, 2)
    expect(await readyOn(cluster, MOVING.tenant, MOVING.name)).not.toContain(sick)
    await untilNothingTwice()
    for (const node of nodes()) await untilServed(cluster, node, MOVING.name)
    console.log(`disk full: degraded after ${degradedMs} ms, updated elsewhere after ${since(begunMs)} ms`)
    expect(since(begunMs)).toBeLessThan(REPLACED_MS + PRESSED_MS)
  } finally {
    freeDisk(cluster.node(sick).disk)
  }
  await untilStatus(cluster, [sick], 'ready', PRESSED_MS)
  expect((await api.put(`/api/v1/deployments/${MOVING.name}`, { replicas: 3 })).status).toBe(200)
  await waitUntil(async () => (await readyOn(cluster, MOVING.tenant, MOVING.name)).includes(sick), {
    what: 'the machine runs a replica again',
    timeoutMs: WELL_MS,
  })
  console.log(`${await expectNoFailure(loads)} requests, none failed`)
})

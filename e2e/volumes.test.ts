// A real PostgreSQL keeps its data on a volume: a client inserts numbers and pgbench runs all the time while the database
// is updated, restarted and moved between two nodes of both engine lines. Afterwards every confirmed number and every
// committed transaction is there. Deleting the volume leaves nothing on any machine. Faulty requests store nothing.

import { join } from 'node:path'
import { waitUntil } from '@holdfast/testkit'
import { inRun } from '@holdfast/testkit/long-run'
import { startReplica } from '@holdfast/testkit/platform/start-platform'
import { DISABLED_MOUNT_PROVOCATIONS } from '@holdfast/testkit/provocations/body-provocations'
import {
  ALTERED,
  createAltered,
  rejectionFaults,
  VOLUME_PROVOCATIONS,
} from '@holdfast/testkit/provocations/volume-provocations'
import { prepareVolumeWorld } from '@holdfast/testkit/provocations/volume-world'
import { type BenchLedger, startBench } from '@holdfast/testkit/scenarios/bench-ledger'
import { type Ledger, startLedger } from '@holdfast/testkit/scenarios/database-ledger'
import { containersOn, placementsOf, untilPhase } from '@holdfast/testkit/scenarios/lab-reads'
import { type LabPlatform, startLabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { afterAll, beforeAll, expect, test } from 'vitest'

const MIB = 1024 ** 2
const ATTACK = join(import.meta.dirname, '../packages/agent/src/replication/hostile/attack-port.fixture.ts')
const ROUNDS = inRun(1, 10)
/** How long the rounds last at least. */
const LASTS_MS = inRun(0, 600_000)
/** How many inserts the client must get confirmed between two disturbances. */
const INSERTS = inRun(10, 20)

const PATIENCE = { timeout: inRun(300_000, 3_600_000) }

let cluster: LabPlatform
let ledger: Ledger
let bench: BenchLedger
let volume = ''

beforeAll(async () => {
  cluster = await startLabPlatform({
    nodesPerTenant: { acme: 2, globex: 1 },
    settings: { volumes: { enabled: true } },
  })
})
afterAll(async () => {
  await Promise.all([ledger?.stop(), bench?.stop()])
  await cluster?.stop()
})

const api = () => cluster.api('acme')
const volumes = () => `/api/v1/tenants/${cluster.platform.acme.id}/volumes`
const readVolume = async (id = volume) => Object((await api().get(`${volumes()}/${id}`)).body)
const nodeOfDatabase = async (): Promise<string> =>
  (await placementsOf(api(), 'db')).find(({ state }) => state === 'ready')?.nodeName ?? ''

/** Waits until the volume has all its copies and none of them lags. */
async function untilReplicated(id = volume): Promise<void> {
  let seen: unknown
  await waitUntil(
    async () => {
      const { phase, reason, copies, replicas } = await readVolume(id)
      seen = { phase, reason, copies }
      return phase === 'Ready' && reason === null && copies.length === replicas + 1
    },
    { what: 'the volume has a current replica', timeoutMs: 60_000, seen: () => JSON.stringify(seen) },
  )
}

/** Waits until every replica is promotable as well: until then the nodes change the record of the volume. */
async function untilPromotable(id: string): Promise<void> {
  await untilReplicated(id)
  const arePromotable = async (): Promise<boolean> =>
    (await readVolume(id)).copies.every(
      ({ role, promotable }: { role: string; promotable: boolean }) => role === 'primary' || promotable,
    )
  await waitUntil(arePromotable, { what: 'the replicas are promotable', timeoutMs: 60_000 })
}

/** Waits for further confirmed inserts and committed transactions. */
async function untilItWrites(): Promise<void> {
  const [inserted, committed] = [ledger.confirmed.size, bench.log.committed.size]
  const hasGrown = () => ledger.confirmed.size >= inserted + INSERTS && bench.log.committed.size > committed
  await waitUntil(hasGrown, {
    what: `${INSERTS} more inserts are confirmed and pgbench commits`,
    timeoutMs: 60_000 + INSERTS * 2_000,
    seen: () => `${ledger.confirmed.size - inserted} inserts; last error of pgbench: ${bench.log.lastError}`,
  })
}

test('creates a volume with a copy on each of two nodes', async () => {
  const body = { name: 'data', class: 'replicated', sizeBytes: 160 * MIB, replicas: 1 }
  const created = await api().post(volumes(), body)
  expect(created.status, created.text).toBe(201)
  volume = Object(created.body['volume']).id
  await untilReplicated()
  const { primary, copies } = await readVolume()
  expect(primary).toMatchObject({ epoch: 1 })
  expect(new Set(copies.map(({ nodeName }: { nodeName: string }) => nodeName))).toEqual(
    new Set(['acme-1', 'acme-2']),
  )
})

test('runs the database on the node of the primary', async () => {
  const { reference } = await cluster.lab.registry.pushPostgresImage('acme/postgres', '15')
  const body = {
    kind: 'Deployment',
    name: 'db',
    image: reference,
    replicas: 1,
    healthCheck: {
      type: 'exec',
      command: ['psql', '-h', '127.0.0.1', '-U', 'postgres', '-c', 'select 1'],
      interval: '5s',
    },
    volumes: [{ volume, target: '/var/lib/data', type: 'volume', readOnly: false }],
  }
  const created = await api().post('/api/v1/deployments', body)
  expect(created.status, created.text).toBe(201)
  await untilPhase(api(), 'db', 'Running')
  expect(await nodeOfDatabase()).toBe((await readVolume()).primary.nodeName)
  ledger = await startLedger(cluster, 'db')
  bench = await startBench(cluster, 'db')
  await untilItWrites()
})

test('processes on other machines read and write nothing through the peer port', async () => {
  const { primary, copies } = await readVolume()
  const holders: string[] = copies.map(({ nodeName }: { nodeName: string }) => nodeName)
  expect(holders).toContain(primary.nodeName)
  for (const name of holders) {
    const { address } = cluster.node(name)
    const hostile = cluster.node('globex-1')
    const output = await hostile.exec([
      process.execPath,
      ATTACK,
      address,
      volume,
      join(hostile.folder, 'agent'),
    ])
    const { attempts, received, isReached } = JSON.parse(output)
    expect(isReached).toBe(true)
    expect(received).toBe(0)
    console.log(
      `peer port of ${name}: ${attempts} attempts of another tenant's node, ${received} bytes received`,
    )
  }
  await untilItWrites()
})

test('loses no committed transaction in updates, restarts and drains', PATIENCE, async () => {
  const started = performance.now()
  let rounds = 0
  while (rounds < ROUNDS || performance.now() - started < LASTS_MS) {
    rounds += 1
    await disturb(rounds)
  }
  await Promise.all([ledger.stop(), bench.stop()])
  const stored = new Set((await ledger.query('select n from ledger')).map(Number))
  const lost = [...ledger.confirmed.keys()].filter((number) => !stored.has(number))
  const { stored: transactions, ...checked } = await bench.check()
  expect({ lost, ...checked }).toEqual({ lost: [], missing: [], balanced: true })
  expect(bench.log.unexpected).toEqual([])
  expect(ledger.confirmed.size).toBeGreaterThanOrEqual(rounds * 4 * INSERTS)
  const served = [...bench.log.byNode].filter(([, count]) => count > 0)
  expect(served.map(([name]) => name).sort()).toEqual(['acme-1', 'acme-2'])
  const seconds = Math.round((performance.now() - started) / 1000)
  console.log(
    `volumes: ${rounds} rounds in ${seconds} s, ${ledger.confirmed.size} confirmed inserts, 0 missing;`,
    `pgbench: ${bench.log.committed.size} logged commits, 0 missing, ${transactions} stored,`,
    `${bench.log.interrupted} interrupted runs, by node ${JSON.stringify(served)}`,
  )
})

/** Updates and restarts the database, restarts its agent, and drains each node once. */
async function disturb(round: number): Promise<void> {
  const changed = await api().put('/api/v1/deployments/db', { environment: { ROUND: String(round) } })
  expect(changed.status, changed.text).toBe(200)
  await untilPhase(api(), 'db', 'Running')
  await untilItWrites()
  expect((await api().post('/api/v1/deployments/db/restart', undefined)).status).toBe(200)
  await untilItWrites()
  await cluster.lab.restartAgent(cluster.node(await nodeOfDatabase()))
  for (const _drain of ['there', 'back']) await drainOnce()
}

async function drainOnce(): Promise<void> {
  await untilReplicated()
  const { primary } = await readVolume()
  expect((await api().post(`/api/v1/nodes/${primary.nodeId}/drain`, undefined)).status).toBeLessThan(300)
  await waitUntil(async () => !['', primary.nodeName].includes(await nodeOfDatabase()), {
    what: 'the database is on the other node',
    timeoutMs: 90_000,
  })
  expect((await readVolume()).primary.epoch).toBe(primary.epoch + 1)
  expect(await containersOn(cluster, primary.nodeName)).toEqual([])
  expect((await api().post(`/api/v1/nodes/${primary.nodeId}/uncordon`, undefined)).status).toBe(200)
  await untilItWrites()
}

test('refuses to delete a mounted volume, and later deletes it on every node', async () => {
  const refused = await api().delete(`${volumes()}/${volume}`)
  expect(refused.text).toContain('volume_in_use')
  expect((await api().delete('/api/v1/deployments/db')).status).toBe(202)
  const isGone = async (path: string) => (await api().get(path)).status === 404
  await waitUntil(() => isGone('/api/v1/deployments/db'), { what: 'the database is gone' })
  await waitUntil(async () => (await api().delete(`${volumes()}/${volume}`)).status < 300, {
    what: 'the claim of the database has ended',
  })
  await waitUntil(() => isGone(`${volumes()}/${volume}`), { what: 'the volume is gone', timeoutMs: 60_000 })
  for (const name of ['acme-1', 'acme-2']) expect(await leftInPool(name)).toEqual([])
})

/** The volumes, checkpoints and mount points that are left on a machine. */
async function leftInPool(name: string): Promise<string[]> {
  const node = cluster.node(name)
  const pool = join(node.folder, 'agent', 'pool')
  const output = await node.exec(['btrfs', 'subvolume', 'list', pool])
  const mounted = (await node.exec(['cat', '/proc/self/mountinfo'])).split('\n')
  return [
    ...output.split('\n').filter((line) => line !== ''),
    ...mounted.filter((line) => line.includes(`${node.folder}/`) && line.includes(volume)),
  ]
}

/** Sends mounts to a server replica of the same platform that has volumes disabled. */
async function expectDisabled(): Promise<void> {
  const { platform } = cluster
  const volumes = { ...platform.config.volumes, enabled: false }
  const settings = { roles: ['api' as const, 'broker' as const], volumes }
  const replica = await startReplica(platform, settings)
  const world = { platform, api: replica.api(platform.acme.token) }
  for (const row of DISABLED_MOUNT_PROVOCATIONS) expect(await rejectionFaults(world, row)).toEqual([])
  await replica.stop()
}

test('rejects each faulty volume and mount with its code and stores nothing', async () => {
  const idOf = async (tenant: string, name: string): Promise<string> => {
    const items: { id: string; name: string }[] = Object(
      (await cluster.api(tenant).get('/api/v1/nodes')).body['items'],
    )
    return items.find((node) => node.name === name)?.id ?? ''
  }
  const [primary, other] = [await idOf('acme', 'acme-1'), await idOf('acme', 'acme-2')]
  const nodes = { primary, other, foreign: await idOf('globex', 'globex-1') }
  const world = await prepareVolumeWorld({ platform: cluster.platform, nodes, untilReady: untilPromotable })
  for (const row of VOLUME_PROVOCATIONS) expect(await rejectionFaults(world, row)).toEqual([])
  const altered = await createAltered(world)
  const { alterations, warnings } = Object(altered.body)
  expect([...alterations, ...warnings]).toEqual(
    expect.arrayContaining(ALTERED.map((each) => expect.objectContaining(each))),
  )
  await expectDisabled()
  const rows = [...VOLUME_PROVOCATIONS, ...DISABLED_MOUNT_PROVOCATIONS]
  const codes = new Set(rows.map(({ code }) => code))
  console.log(
    `volumes: ${rows.length} rejections with ${codes.size} codes and ${ALTERED.length} notices from real agents`,
  )
})

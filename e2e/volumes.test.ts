// Volumes on machines of both engine lines. A real PostgreSQL keeps its data on one: a client inserts numbers and pgbench runs
// all the time while the database is updated, restarted and moved. Afterwards every confirmed number and every committed
// transaction is there. Deleting the volume leaves nothing on any machine. Of many deployments one gets to write a volume, and
// recommended changes reach the kernel and the writer.

import { join } from 'node:path'
import type { Recommendation } from '@holdfast/contract'
import { waitUntil } from '@holdfast/testkit'
import { runCli } from '@holdfast/testkit/cli/run-cli'
import { inRun } from '@holdfast/testkit/long-run'
import { type BenchLedger, startBench } from '@holdfast/testkit/scenarios/bench-ledger'
import { contendFor } from '@holdfast/testkit/scenarios/contending-writers'
import { type Ledger, startLedger } from '@holdfast/testkit/scenarios/database-ledger'
import { containersOn, eventsOf, placementsOf, untilPhase } from '@holdfast/testkit/scenarios/lab-reads'
import * as lab from '@holdfast/testkit/scenarios/lab-volumes'
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
    settings: { volumes: { enabled: true }, quotas: { deployments: 5_000 } },
  })
})
afterAll(async () => {
  await Promise.all([ledger?.stop(), bench?.stop()])
  await cluster?.stop()
})

const api = () => cluster.api('acme')
const volumes = () => lab.volumesOf(cluster)
const readVolume = (id = volume) => lab.readVolume(cluster, id)
const nodeOfDatabase = async (): Promise<string> =>
  (await placementsOf(api(), 'db')).find(({ state }) => state === 'ready')?.nodeName ?? ''

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

test('a database on a volume with two copies runs on the node of the primary', async () => {
  volume = await lab.createVolume(cluster, { name: 'data', sizeBytes: 160 * MIB, replicas: 1 })
  const { primary, copies } = await readVolume()
  expect(primary).toMatchObject({ epoch: 1 })
  expect(new Set(copies.map(({ nodeName }: { nodeName: string }) => nodeName))).toEqual(
    new Set(['acme-1', 'acme-2']),
  )
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
  await lab.untilReplicated(cluster, volume)
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

/** Creates and updates that want to write one volume. */
const WRITES = inRun(50, 1_000)
const NODES = ['acme-1', 'acme-2']

test.each(NODES)(
  `only one of ${WRITES} creates and updates ever has a container that writes a volume on %s`,
  async (nodeName) => {
    const spec = { name: `on-${nodeName}`, sizeBytes: 32 * MIB, replicas: 1, nodeName }
    await contendFor(cluster, {
      volume: await lab.createVolume(cluster, spec),
      node: nodeName,
      writes: WRITES,
    })
  },
)

/** The limit that an agent sets is so many times the size of the volume. */
const CLAIM = 2

test('recommended copies and sizes are applied, and the kernel and the writer see each new limit', async () => {
  const [node, other] = [cluster.node('acme-1'), cluster.node('acme-2')]
  const id = await lab.createVolume(cluster, {
    name: 'full',
    sizeBytes: 16 * MIB,
    replicas: 0,
    nodeName: node.name,
  })
  await startWriter(id)
  await write('data', 15)
  expect(await lab.limitOf(node, id)).toBe(CLAIM * 16 * MIB)

  const bare = await untilListed('under_replicated')
  const env = { HOLDFAST_URL: cluster.platform.baseUrl, HOLDFAST_TOKEN: cluster.platform.acme.token }
  const cli = (...words: string[]) => runCli(['volume', 'recommendations', ...words], { env })
  const listed = await cli('--type', 'under_replicated')
  expect([listed.stderr, listed.stdout]).toEqual([
    '',
    expect.stringMatching(new RegExp(`${bare.id} +high +full +under_replicated +replicas to 1 +yes`)),
  ])
  const applied = await cli('apply', bare.id, '--wait')
  expect(applied.code, applied.stderr).toBe(0)
  expect(applied.stdout).toMatch(/^volume\/full changed: 16MiB, 1 replica$/m)
  await lab.untilReplicated(cluster, id)
  await lab.untilHeld(node, other, id, 'data')
  expect((await cli('--type', 'under_replicated')).stdout).not.toContain(bare.id)
  expect((await cli('apply', bare.id)).stderr).toContain('dvm_recommendation_not_found')

  await measureAgain()
  const small = await untilListed('capacity_low')
  const answer = await api().post(`/api/v1/dvm/recommendations/${small.id}/apply`, {})
  expect(answer.status, answer.text).toBe(202)
  const events = await eventsOf(api(), 'recommendation.applied')
  expect(events.filter(({ data }) => Object(data).recommendationId === small.id)).toHaveLength(1)
  await untilLimited(id, 23 * MIB)
  // With the 15 MiB before, these are more than the old limit.
  await write('more', 20)

  // A recommendation of a smaller size would need seven days with little data; the change is the same.
  for (const file of ['data', 'more']) await write(file, 0)
  await measureAgain()
  let refusal = ''
  const isAccepted = async (): Promise<boolean> => {
    const smaller = await api().post(`${volumes()}/${id}/resize`, { sizeBytes: 16 * MIB })
    refusal = smaller.text
    return smaller.status < 300
  }
  await waitUntil(isAccepted, { what: 'a smaller size is accepted', timeoutMs: 90_000, seen: () => refusal })
  await untilLimited(id, 16 * MIB)
  await expect(write('more', 40)).rejects.toThrow(/quota|space/i)
})

async function startWriter(id: string): Promise<void> {
  const mounts = [{ volume: id, target: '/data', type: 'volume', readOnly: false }]
  const body = { kind: 'Deployment', name: 'writer', image: cluster.image, replicas: 1, volumes: mounts }
  const deployed = await api().post('/api/v1/deployments', { ...body, stopGracePeriod: '1s' })
  expect(deployed.status, deployed.text).toBe(201)
  await untilPhase(api(), 'writer', 'Running')
}

/** Writes a file of some MiB in the container of the writer. */
async function write(file: string, mib: number): Promise<void> {
  const words = ['dd', 'if=/dev/urandom', `of=/data/${file}`, 'bs=1M', `count=${mib}`, 'conv=fsync']
  await cluster.node('acme-1').exec(['docker', 'exec', 'writer', ...words])
}

/** An agent measures its volumes when it starts. */
const measureAgain = () => cluster.lab.restartAgent(cluster.node('acme-1'))

/** Waits until a recommendation for the volume `full` is listed and can be applied. */
async function untilListed(type: string): Promise<Recommendation> {
  const headers = { 'X-Tenant-ID': cluster.platform.acme.id }
  let seen: readonly Recommendation[] = []
  return waitUntil(
    async () => {
      const answer = await api().get(`/api/v1/dvm/recommendations?type=${type}`, headers)
      expect(answer.status, answer.text).toBe(200)
      seen = Object(answer.body['items'])
      return seen.find(({ volume_name, applicable }) => volume_name === 'full' && applicable)
    },
    { what: `${type} is listed`, timeoutMs: 90_000, seen: () => JSON.stringify(seen) },
  )
}

async function untilLimited(id: string, sizeBytes: number): Promise<void> {
  await waitUntil(async () => (await lab.limitOf(cluster.node('acme-1'), id)) === CLAIM * sizeBytes, {
    what: `the volume has the limit of ${sizeBytes} bytes`,
    timeoutMs: 60_000,
  })
  await lab.untilReplicated(cluster, id)
  expect(await readVolume(id)).toMatchObject({ sizeBytes })
}

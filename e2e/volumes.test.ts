// A real PostgreSQL keeps its data on a volume: a client inserts numbers all the time while the database is updated,
// restarted and moved between two nodes of both engine lines. Afterwards every confirmed number is there. Deleting the
// volume leaves nothing on any machine.

import { join } from 'node:path'
import { waitUntil } from '@holdfast/testkit'
import { inRun } from '@holdfast/testkit/long-run'
import { type Ledger, startLedger } from '@holdfast/testkit/scenarios/database-ledger'
import { containersOn, placementsOf, untilPhase } from '@holdfast/testkit/scenarios/lab-reads'
import { type LabPlatform, startLabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { afterAll, beforeAll, expect, test } from 'vitest'

const MIB = 1024 ** 2
const ROUNDS = inRun(1, 10)
/** How many inserts the client must get confirmed between two disturbances. */
const INSERTS = inRun(20, 100)

let cluster: LabPlatform
let ledger: Ledger
let volume = ''

beforeAll(async () => {
  cluster = await startLabPlatform({
    nodesPerTenant: { acme: 2, globex: 1 },
    settings: { volumes: { enabled: true } },
  })
})
afterAll(async () => {
  await ledger?.stop()
  await cluster?.stop()
})

const api = () => cluster.api('acme')
const volumes = () => `/api/v1/tenants/${cluster.platform.acme.id}/volumes`
const readVolume = async () => Object((await api().get(`${volumes()}/${volume}`)).body)
const nodeOfDatabase = async (): Promise<string> =>
  (await placementsOf(api(), 'db')).find(({ state }) => state === 'ready')?.nodeName ?? ''

/** Waits until the volume has all its copies and none of them lags. */
async function untilReplicated(): Promise<void> {
  let seen: unknown
  await waitUntil(
    async () => {
      const { phase, reason, copies } = await readVolume()
      seen = { phase, reason, copies }
      return phase === 'Ready' && reason === null && copies.length === 2
    },
    { what: 'the volume has a current replica', timeoutMs: 60_000 },
  ).catch((error: Error) => {
    throw new Error(`${error.message} Last seen: ${JSON.stringify(seen)}`)
  })
}

/** Waits for further confirmed inserts. */
async function untilItWrites(): Promise<void> {
  const before = ledger.confirmed.size
  await waitUntil(async () => ledger.confirmed.size >= before + INSERTS, {
    what: `${INSERTS} more inserts are confirmed`,
    timeoutMs: 60_000 + INSERTS * 2_000,
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
  await untilItWrites()
})

test(`keeps every confirmed insert over ${ROUNDS} rounds of updates, restarts and drains`, async () => {
  for (let round = 1; round <= ROUNDS; round += 1) {
    const changed = await api().put('/api/v1/deployments/db', { environment: { ROUND: String(round) } })
    expect(changed.status, changed.text).toBe(200)
    await untilPhase(api(), 'db', 'Running')
    await untilItWrites()
    expect((await api().post('/api/v1/deployments/db/restart', undefined)).status).toBe(200)
    await untilItWrites()
    await cluster.lab.restartAgent(cluster.node(await nodeOfDatabase()))
    for (const _drain of ['there', 'back']) await drainOnce()
  }
  await ledger.stop()
  const stored = new Set((await ledger.query('select n from ledger')).map(Number))
  expect([...ledger.confirmed].filter((number) => !stored.has(number))).toEqual([])
  expect(ledger.confirmed.size).toBeGreaterThanOrEqual(ROUNDS * 4 * INSERTS)
  console.log(`volumes: ${ledger.confirmed.size} confirmed inserts, 0 missing, ${ROUNDS} rounds`)
})

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

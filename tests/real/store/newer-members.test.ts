// Requests change records that a newer server has changed: deployments, secrets, rotations, registry credentials, volumes,
// networks and tenants, over HTTP on a real etcd and a real secrets store. No change of a record may lose a member that only the newer
// server knows. The simulation does the same for nodes and placements (packages/simulation/src/seeds).

import { isJsonObject, type Json, type JsonObject, type TenantId } from '@holdfast/contract'
import { createEtcdClient } from '@holdfast/server/adapters/etcd/create-etcd-client'
import { connectSecretsWriter } from '@holdfast/server/connect-engines'
import { reconcileNetwork } from '@holdfast/server/loops/controllers/networks/reconcile-network'
import { finishRemovals } from '@holdfast/server/loops/finish-removals'
import { archiveId } from '@holdfast/server/operations/deployments/write/store-deployment'
import { sweepIntents } from '@holdfast/server/operations/secrets/versions/sweep-intents'
import type { KeyValueEngine } from '@holdfast/server/ports/key-value'
import { createKeyspace } from '@holdfast/server/store/keys'
import { archive, deployments, networks, nodes } from '@holdfast/server/store/records'
import type { TransactionDecision } from '@holdfast/server/store/store'
import { inTenant, type Transaction } from '@holdfast/server/store/transaction'
import { realClock as clock } from '@holdfast/server/system-clock'
import { sharedEtcd } from '@holdfast/testkit'
import { inRun } from '@holdfast/testkit/long-run'
import { findLost } from '@holdfast/testkit/newer-members/find-lost'
import { type NewerServer, startNewerServer } from '@holdfast/testkit/newer-members/newer-server'
import { createCountSum } from '@holdfast/testkit/newer-members/sum-counts'
import { storeReadyVolume } from '@holdfast/testkit/nodes/ready-volume'
import type { ApiAnswer } from '@holdfast/testkit/platform/api-client'
import { type RotatingWorld, startRotatingWorld } from '@holdfast/testkit/secrets/rotating-world'
import { at, DEPLOYMENTS } from '@holdfast/testkit/secrets/secrets-world'
import { afterAll, beforeAll, expect, test } from 'vitest'

const REQUESTS = inRun(400, 3_000)
const NAMES = ['web', 'db', 'job'] as const
const LABELS = ['s1', 's2', 's3'] as const
/** A volume that is Ready from the start and is only mounted. */
const MOUNTED = 'vol_01JD0000000000000000000000'

let world: RotatingWorld
let engine: KeyValueEngine
let newer: NewerServer

const below = (limit: number): number => Math.floor(Math.random() * limit)
const oneOf = <T>(values: readonly [T, ...T[]]): T => values[below(values.length)] ?? values[0]

beforeAll(async () => {
  const { endpoints } = await sharedEtcd()
  engine = createEtcdClient({ endpoints })
  world = await startRotatingWorld()
  await storeReadyVolume(world.platform, world.tenant, MOUNTED)
  newer = await startNewerServer(engine, world.platform.root, below)
})
afterAll(async () => {
  await newer.stop()
  await world.stop()
  engine.close()
})

const secretsOf = (): object[] =>
  LABELS.filter(() => below(2) === 0).map((label) => ({
    name: label.toUpperCase(),
    vault_path: `resources/${label}`,
    anchor: 'external',
  }))

const routesOf = (): object[] =>
  ['a', 'b']
    .filter(() => below(2) === 0)
    .map((host) => ({ host: `${host}.example`, path: '/', port: 1 + below(3) }))

async function create(): Promise<ApiAnswer> {
  const { image } = world.platform
  const body = { kind: 'Deployment', name: oneOf(NAMES), image, replicas: 0, secrets: secretsOf() }
  return world.api.post(DEPLOYMENTS, {
    ...body,
    placement: { constraints: [{ label: 'a', operator: 'exists' }] },
  })
}

function update(): Promise<ApiAnswer> {
  const changes = oneOf<() => object>([
    () => ({ environment: { A: String(below(100)) } }),
    () => ({ secrets: secretsOf() }),
    () => ({ routes: routesOf() }),
    () => ({
      update: {
        order: 'stop-first',
        parallelism: 1 + below(3),
        failureAction: 'pause',
        progressDeadline: '1m',
      },
    }),
  ])
  return world.api.put(`${DEPLOYMENTS}/${oneOf(NAMES)}`, changes())
}

/** Requests the next step of a rotation, which may be to abort it. */
async function rotate(): Promise<ApiAnswer> {
  const path = `${DEPLOYMENTS}/${oneOf(NAMES)}/secrets`
  const [first] = Object((await world.api.get(`${path}/rotation`)).body['credentials'] ?? [])
  const phase = oneOf<string>(first?.next.length > 0 ? first.next : ['stage'])
  const values = phase === 'stage' ? { values: { password: `p${below(1_000_000)}` } } : {}
  return world.api.post(`${path}/rotate`, { phase, ...(first && { secret: first.secret }), ...values })
}

const volumesPath = () => `/api/v1/tenants/${world.tenant}/volumes`

function createVolume(): Promise<ApiAnswer> {
  const sent = { name: oneOf(NAMES), class: 'replicated', sizeBytes: 2 ** 30, residency: { country: 'DE' } }
  return world.api.post(volumesPath(), sent)
}

/** Changes the number of copies of the first volume, or deletes the volume. */
async function scaleVolume(): Promise<ApiAnswer> {
  const items: { id: string; replicas: number }[] = Object((await world.api.get(volumesPath())).body['items'])
  const first = items.find(({ id }) => id !== MOUNTED)
  const path = `${volumesPath()}/${first?.id ?? 'none'}`
  return below(5) === 0
    ? world.api.delete(path)
    : world.api.send('PATCH', path, { replicas: ((first?.replicas ?? 0) + 1) % 5 })
}

/** Mounts the volume read-write or drops the mount, which binds and releases the claim of its writer. */
async function mount(): Promise<ApiAnswer> {
  const path = `${DEPLOYMENTS}/${NAMES[0]}`
  const { body } = await world.api.get(path)
  const isMounted = Object(body['volumes'] ?? []).length > 0
  const entry = { volume: MOUNTED, target: '/data', type: 'volume', readOnly: false }
  return world.api.put(path, { volumes: isMounted ? [] : [entry] })
}

const NETWORKS = '/api/v1/networks'

function createNetwork(): Promise<ApiAnswer> {
  const [first] = world.store.list(nodes, world.tenant)
  return world.api.post(NETWORKS, { name: oneOf(NAMES), nodeId: first?.record.id ?? '' })
}

async function deleteNetwork(): Promise<ApiAnswer> {
  const [first] = Object((await world.api.get(NETWORKS)).body['items'])
  return world.api.delete(`${NETWORKS}/${first?.id ?? 'none'}`)
}

/** Names a network in a deployment or drops the name; a new use writes the record of the name. */
async function joinNetwork(): Promise<ApiAnswer> {
  const path = `${DEPLOYMENTS}/${oneOf(NAMES)}`
  const { body } = await world.api.get(path)
  const isNamed = Object(body['networks'] ?? []).length > 0
  return world.api.put(path, { networks: isNamed ? [] : [oneOf(NAMES)] })
}

async function rollBack(): Promise<ApiAnswer> {
  const name = oneOf(NAMES)
  const revision = 1 + below(Math.max(1, (world.deployment(name)?.revision ?? 1) - 1))
  const answer = await world.api.post(`${DEPLOYMENTS}/${name}/rollback`, { revision })
  if (answer.status === 200) expect(await lostByRollback(name, revision)).toEqual([])
  return answer
}

/** Unknown members of an archived spec that the deployment lacks after a rollback to that spec. */
async function lostByRollback(name: string, revision: number): Promise<readonly string[]> {
  const stored = await recordAt(deployments.folder, name)
  const { spec = null } = (await recordAt(archive.folder, archiveId(name, revision))) ?? {}
  if (stored === undefined) throw new Error(`no deployment ${name}`)
  return findLost(deployments.shape, { ...stored, spec }, stored).lost
}

async function recordAt(folder: string, id: string): Promise<JsonObject | undefined> {
  const key = createKeyspace(world.platform.root).tenantKey(world.tenant, folder, id)
  const [found] = (await engine.range({ key })).kvs
  const record: Json = found === undefined ? null : JSON.parse(Buffer.from(found.value).toString())
  return isJsonObject(record) ? record : undefined
}

const later = { now: () => clock.now() + 120_000 }

/** Does the work of the loops that end removals and destroy abandoned versions, as if two minutes had passed. */
async function cleanUp(): Promise<undefined> {
  const { store, platform } = world
  await finishRemovals({ store, clock, removeTenantSecrets: async () => true })
  await sweepIntents({ store, clock: later, secrets: connectSecretsWriter(platform.config) })
  return undefined
}

const REQUEST_KINDS: readonly [
  () => Promise<ApiAnswer | undefined>,
  ...(() => Promise<ApiAnswer | undefined>)[],
] = [
  create,
  create,
  update,
  update,
  update,
  rotate,
  rotate,
  rotate,
  rollBack,
  cleanUp,
  () => world.api.put(at(oneOf(LABELS)), { values: { password: `p${below(1_000_000)}` } }),
  () => world.api.post(`${DEPLOYMENTS}/${oneOf(NAMES)}/restart`, {}),
  () => world.api.delete(`${DEPLOYMENTS}/${oneOf(NAMES)}`),
  createVolume,
  scaleVolume,
  scaleVolume,
  mount,
  mount,
  createNetwork,
  joinNetwork,
  joinNetwork,
  deleteNetwork,
  () =>
    world.api.put(`/api/v1/registries/${world.platform.registryHost}/credential`, {
      username: 'u',
      password: `p${below(1_000_000)}`,
    }),
  () =>
    world.platform
      .api()
      .send('PATCH', `/api/v1/tenants/${world.tenant}`, { quotas: { containers: 100 + below(100) } }),
]

/** Names a network in a new deployment, which changes the record of the network's name. */
async function useNetwork(): Promise<void> {
  const { api, platform, store, tenant } = world
  const [first] = store.list(nodes, tenant)
  await api.post(NETWORKS, { name: 'used', nodeId: first?.record.id ?? '' })
  await newer.caughtUp()
  const spec = { kind: 'Deployment', name: 'user', image: platform.image, replicas: 0, networks: ['used'] }
  const { status, text } = await api.post(DEPLOYMENTS, spec)
  expect(status, text).toBe(201)
  await newer.caughtUp()
}

/** Creates a job and cancels it, which changes its record. A job needs a node with a connected agent. */
async function cancelJob(): Promise<void> {
  const { api, platform, store, tenant } = world
  const [first] = store.list(nodes, tenant)
  await store.transact<void>((transaction) => {
    const node = first && transaction.get(inTenant(tenant, nodes, first.record.id))
    if (node !== undefined) transaction.put(inTenant(tenant, nodes, node.id), { ...node, status: 'ready' })
    return { kind: 'commit', result: undefined }
  })
  const { status, body, text } = await api.post('/api/v1/jobs', {
    ...{ kind: 'Job', name: 'batch', image: platform.image },
  })
  expect(status, text).toBe(201)
  await newer.caughtUp()
  expect((await api.delete(`/api/v1/jobs/${Object(body['job']).id}`)).status).toBe(202)
  await newer.caughtUp()
}

/** Releases all nodes and deletes the other tenant with its deployment, which changes records before they are deleted. */
async function endAll(): Promise<void> {
  const { store, platform, tenant, api } = world
  const other = platform.api(platform.globex.token)
  await other.post(DEPLOYMENTS, { kind: 'Deployment', name: 'last', image: platform.image, replicas: 0 })
  await createNetwork()
  await useNetwork()
  await cancelJob()
  for (const { record } of store.list(nodes, tenant))
    expect((await api.delete(`/api/v1/nodes/${record.id}`)).status).toBeLessThan(300)
  const leadership = {
    owns: () => true,
    fenced: <T>(_tenant: TenantId, decide: (transaction: Transaction) => TransactionDecision<T>) =>
      store.transact(decide),
    subscribe: () => () => {},
  }
  await store.fresh()
  for (const { record } of store.list(networks, tenant))
    await reconcileNetwork({ store, clock, leadership }, tenant, record.id)
  expect((await platform.api().delete(`/api/v1/tenants/${platform.globex.id}`)).status).toBe(202)
  await newer.caughtUp()
  await cleanUp()
  await newer.caughtUp()
}

/** The kinds in turn, so that each follows each; then at random. */
const kindOf = (request: number) =>
  request < 3 * REQUEST_KINDS.length ? REQUEST_KINDS[request % REQUEST_KINDS.length] : oneOf(REQUEST_KINDS)

test('servers keep the unknown members of every record that a request changes', async () => {
  for (let request = 0; request < REQUESTS; request += 1) {
    const answer = await kindOf(request)?.()
    expect(answer?.status ?? 200, answer?.text).toBeLessThan(500)
    await newer.caughtUp()
  }
  await endAll()
  const sum = createCountSum()
  sum.add(newer.ledger.counts)
  console.log(`${sum.changes()} changes by ${REQUESTS} requests; marked/changes/members: ${sum.text()}`)
  expect(newer.ledger.faults).toEqual([])
  expect(sum.untouched('platform')).toEqual([])
})

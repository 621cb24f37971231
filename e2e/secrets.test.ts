// Secrets on full nodes of both engine versions. They are written, generated, rotated and used by running containers, while the
// secrets store denies access to one tenant, is slow for it, is sealed or killed: containers that need a secret wait and start
// automatically, all others keep working, and the store is not flooded. Then everything that the product wrote or sent is searched
// for each value, in every encoding. The test never reads a value out of a container: a command there computes its hash.

import { hash, randomBytes } from 'node:crypto'
import { type SecretsStore, startSecretsStore } from '@holdfast/testkit'
import { LONG } from '@holdfast/testkit/long-run'
import type { ApiAnswer, ApiClient } from '@holdfast/testkit/platform/api-client'
import {
  type Known,
  readEverything,
  searchArtefacts,
  searchEngine,
} from '@holdfast/testkit/scenarios/artefacts'
import {
  createCanaryValues,
  keysOf,
  recording,
  recordStream,
} from '@holdfast/testkit/scenarios/canary-values'
import {
  containersOn,
  eventsOf,
  inspect,
  placementsOf,
  startsOn,
  untilHealed,
  untilPhase,
  untilRevision,
} from '@holdfast/testkit/scenarios/lab-reads'
import { nodesOf } from '@holdfast/testkit/scenarios/routed-page'
import { type ServerProcess, startServerProcess } from '@holdfast/testkit/scenarios/server-process'
import { type LabPlatform, startLabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { searchFor } from '@holdfast/testkit/secrets/find-values'
import { createStoreEye } from '@holdfast/testkit/secrets/store-eye'
import { type StoreProxy, startStoreProxy } from '@holdfast/testkit/secrets/store-proxy'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'

type Tenant = 'acme' | 'globex'
type Values = { readonly [key: string]: string }

/** Number of containers of the unaffected tenant that start at once during a fault. */
const AT_ONCE = LONG ? 100 : 12
/** Least time between two reads of a secret path after a failed read. */
const BACKOFF_MS = 30_000
const SLOW = ['slow-1', 'slow-2']
const canaries = createCanaryValues()
const REGISTRY = { username: 'robot', password: String(canaries.document(1)['k0']).slice(0, 24) }
/** A public text that must be found in every searched place, which proves that a secret there would be found too. */
const MARK = `mark-${randomBytes(8).toString('hex')}`

interface Waiting {
  readonly tenant: Tenant
  readonly name: string
  readonly cause: string
}

let store: SecretsStore
let proxy: StoreProxy
let cluster: LabPlatform
/** A server in its own process that answers half of the requests and serves secrets, with a log as in production. */
let server: ServerProcess
const answers: string[] = []
const streams: (() => void)[] = []
const labels = new Set<string>()
const names = new Set<string>()
/** The values under each path, by tenant and label. */
const written = new Map<string, Values>()
/** Ids of the containers that ran before the first fault. */
let before: string[]
const waiting: Waiting[] = []

beforeAll(async () => {
  store = await startSecretsStore()
  proxy = await startStoreProxy(store.address)
  const behindProxy = { ...store, address: proxy.address }
  cluster = await startLabPlatform({
    nodesPerTenant: { acme: 2, globex: 1 },
    etcdMembers: 1,
    secretsStore: behindProxy,
  })
  server = await startServerProcess(cluster.platform, ['api', 'broker'], behindProxy)
  const { acme, globex, baseUrl } = cluster.platform
  for (const { token } of [acme, globex])
    streams.push(recordStream(`${baseUrl}/api/v1/events/stream`, token, answers))
})
afterAll(async () => {
  for (const end of streams) end()
  await cluster?.stop()
  await server?.remove()
  await proxy?.stop()
  await store?.stop()
})

const api = (tenant: Tenant): ApiClient => recording(cluster.api(tenant), answers)
const besideApi = (): ApiClient => recording(server.api(cluster.platform.acme.token), answers)
const eyeOf = (tenant: Tenant) => createStoreEye({ ...store, tenant: cluster.platform[tenant].id })

function entry(name: string, label: string, material: object = {}) {
  labels.add(label)
  return { name, vault_path: `resources/${label}`, anchor: 'external', ...material }
}
function deployment(name: string, over: object) {
  names.add(name)
  return { kind: 'Deployment', name, image: cluster.image, replicas: 1, stopGracePeriod: '1s', ...over }
}

async function accepted(request: Promise<ApiAnswer>): Promise<ApiAnswer> {
  const answer = await request
  expect(answer.status, answer.text).toBeLessThan(300)
  return answer
}

const create = async (client: ApiClient, body: object) => accepted(client.post('/api/v1/deployments', body))

/** Writes new values under a path. */
async function write(tenant: Tenant, label: string): Promise<void> {
  labels.add(label)
  const values = canaries.document(1)
  written.set(`${tenant} ${label}`, values)
  await accepted(api(tenant).put(`/api/v1/secrets/resources/${label}`, { values }))
}

/** Creates a deployment with the secret of its name, or with the given one. */
const use = (tenant: Tenant, name: string, over: object = {}, label = name) =>
  create(api(tenant), deployment(name, { secrets: [entry('DB', label)], ...over }))

/** SHA-256 hashes of texts such as `$VARIABLE`, expanded and hashed by the shell in the container. */
async function hashesIn(node: string, container: string, texts: readonly string[]): Promise<string[]> {
  const script = texts.map((text) => `printf %s "${text}" | sha256sum`).join('\n')
  const output = await cluster.node(node).exec(['docker', 'exec', container, '/bin/sh', '-c', script])
  return output
    .trim()
    .split('\n')
    .map((line) => line.slice(0, 64))
}
const hashOf = (text: string): string => hash('sha256', text, 'hex')

test('containers on both engines receive written, generated and composed secrets', async () => {
  const values = canaries.document(140)
  const keys = keysOf(40)
  await create(
    besideApi(),
    deployment('web', {
      replicas: 2,
      environment: { MODE: 'lab' },
      placement: { antiAffinity: ['web'] },
      secrets: [
        entry('DB', 'web-db', { values }),
        entry('KEY', 'web-key', { generate: { keys: keysOf(20) } }),
      ],
      composedEnvironment: { URL: 'redis://app:{{secret.web-db.k1}}@db/{{secret.web-key.k0}}' },
    }),
  )
  await untilPhase(api('acme'), 'web', 'Running')
  const generated = await eyeOf('acme').read('resources/web-key', 1)
  canaries.learn(generated)
  const placed = await placementsOf(api('acme'), 'web')
  expect(placed.map(({ nodeName }) => nodeName).sort()).toEqual(nodesOf(cluster, 'acme'))
  const proofs = new Set<string>()
  for (const { nodeName } of placed) {
    const variables = [...keys.map((key) => `$DB_${key}`), '$KEY_k0', '$URL', '$MODE']
    const url = `redis://app:${values['k1']}@db/${generated['k0']}`
    const expected = [...keys.map((key) => String(values[key])), String(generated['k0']), url, 'lab']
    expect(await hashesIn(nodeName, 'web', variables)).toEqual(expected.map(hashOf))
    proofs.add((await inspect(cluster, nodeName, 'web')).Config.Labels['holdfast.io/proof'])
  }
  expect(proofs.size).toBe(2)
})

test('repeated, rejected, dry-run, update, rotation and delete requests with values are handled', async () => {
  const client = besideApi()
  const once = { 'idempotency-key': randomBytes(16).toString('hex') }
  const body = deployment('once', { secrets: [entry('S', 'once', { values: canaries.document(15) })] })
  const first = await accepted(client.post('/api/v1/deployments', body, once))
  const again = await accepted(client.post('/api/v1/deployments', body, once))
  expect(again.text).toBe(first.text)
  const other = { ...body, secrets: [entry('S', 'once', { values: canaries.document(5) })] }
  expect((await client.post('/api/v1/deployments', other, once)).status).toBe(409)

  const wrong = deployment('wrong', {
    replicas: -1,
    secrets: [entry('S', 'Wrong Label', { values: canaries.document(5), valuse: canaries.document(2) })],
  })
  expect((await api('acme').post('/api/v1/deployments', wrong)).status).toBe(422)
  expect((await client.post('/api/v1/deployments', { ...wrong, replicas: 1 })).status).toBe(422)
  const misspelt = { values: canaries.document(5), generate: { keys: ['k0'] }, value: canaries.document(2) }
  expect((await client.put('/api/v1/secrets/resources/once', misspelt)).status).toBe(422)
  const tried = deployment('once', { secrets: [entry('S', 'tried', { values: canaries.document(5) })] })
  await accepted(api('acme').put('/api/v1/deployments/once?dryRun=true', tried))

  await untilPhase(api('acme'), 'once', 'Running')
  const next = { secrets: [entry('S', 'once', { values: canaries.document(15) })] }
  await accepted(client.put('/api/v1/deployments/once', next))
  await untilRevision(api('acme'), 'once', 2)
  const rotate = (phase: object) =>
    accepted(client.post('/api/v1/deployments/once/secrets/rotate', { secret: 'S', ...phase }))
  await rotate({ phase: 'stage', values: canaries.document(15) })
  await rotate({ phase: 'abort' })
  await create(
    client,
    deployment('gone', { replicas: 0, secrets: [entry('S', 'gone', { values: canaries.document(15) })] }),
  )
  await accepted(client.delete('/api/v1/deployments/gone'))
})

const everyStart = async (): Promise<string[]> =>
  (await Promise.all(cluster.lab.nodes.map(({ name }) => startsOn(cluster, name)))).flat()

/** Containers of the deployment on the tenant's machines, also those that were created and not started. */
async function heldOf(tenant: Tenant, name: string): Promise<string[]> {
  const held = await Promise.all(nodesOf(cluster, tenant).map((node) => containersOn(cluster, node)))
  return held.flat().filter((line) => line.startsWith(`${name} `))
}

/** Checks that the deployment reports the cause and has no container. */
async function waits({ tenant, name, cause }: Waiting, message: string): Promise<void> {
  await untilPhase(api(tenant), name, 'Degraded')
  const { body } = await api(tenant).get(`/api/v1/deployments/${name}`)
  const status = { reason: 'secret_unresolved', message: expect.stringContaining(message) }
  expect(body['status']).toMatchObject(status)
  expect(await heldOf(tenant, name)).toEqual([])
  waiting.push({ tenant, name, cause })
}

const AWAY = 'cannot be read: the secrets store does not answer'

/** Checks that containers of the unaffected tenant start, while those that are listed have none. */
async function otherTenantStarts(name: string, held: readonly string[]): Promise<void> {
  await use('acme', name, { replicas: AT_ONCE }, 'beside')
  await untilPhase(api('acme'), name, 'Running')
  for (const each of held) expect(await heldOf('globex', each)).toEqual([])
  await accepted(api('acme').delete(`/api/v1/deployments/${name}`))
  expect(await everyStart()).toEqual(expect.arrayContaining(before))
}

test('a tenant that the store denies, or whose reads take 30 s, waits, and the other tenant is unaffected', async () => {
  onTestFinished(() => proxy.calm())
  for (const tenant of ['acme', 'globex'] as const) {
    await write(tenant, 'steady')
    await use(tenant, 'steady')
  }
  for (const label of ['late', 'later', 'beside']) await write('acme', label)
  for (const label of ['refused', ...SLOW]) await write('globex', label)
  for (const tenant of ['acme', 'globex'] as const) await untilPhase(api(tenant), 'steady', 'Running')
  before = await everyStart()

  const path = `kv-${cluster.platform.globex.id}/`
  proxy.forbid(path)
  await use('globex', 'refused')
  await waits({ tenant: 'globex', name: 'refused', cause: 'denied' }, 'cannot be read')
  await create(api('globex'), deployment('plain', {}))
  await untilPhase(api('globex'), 'plain', 'Running')
  proxy.calm()
  proxy.delay(path, 30_000)
  for (const name of SLOW) await use('globex', name)
  await otherTenantStarts('beside', ['refused', ...SLOW])
  for (const name of SLOW) await waits({ tenant: 'globex', name, cause: 'store_unavailable' }, AWAY)
})

test('while the store is sealed or killed, containers with secrets wait and others start', async () => {
  await store.seal()
  await use('acme', 'late')
  await create(api('acme'), deployment('plain', {}))
  await waits({ tenant: 'acme', name: 'late', cause: 'store_unavailable' }, AWAY)
  await untilPhase(api('acme'), 'plain', 'Running')
  await store.unseal()
  await store.kill()
  await use('acme', 'later')
  await waits({ tenant: 'acme', name: 'later', cause: 'store_unavailable' }, AWAY)
  await untilPhase(api('acme'), 'steady', 'Running')
  expect(await everyStart()).toEqual(expect.arrayContaining(before))
  await store.restart()
})

test('all recover when the store is back, and no path was read more than once in half a minute', async () => {
  await Promise.all(waiting.map(({ tenant, name }) => untilHealed(api(tenant), name)))
  for (const { tenant, name } of [...waiting, ...steady]) {
    const [placed] = await placementsOf(api(tenant), name)
    const values = Object.values(written.get(`${tenant} ${name}`) ?? {})
    expect(await hashesIn(placed?.nodeName ?? '', name, ['$DB_k0'])).toEqual(values.map(hashOf))
  }
  for (const each of waiting) {
    const reads = readsOf(each)
    console.log(`${each.name}: ${reads} reads of its path, one of them successful`)
    expect(reads).toBeGreaterThan(0)
    expect(reads).toBeLessThanOrEqual(await mostReads(each))
  }
  expect(await everyStart()).toEqual(expect.arrayContaining(before))
  for (const tenant of ['acme', 'globex'] as const) {
    const reported = await eventsOf(api(tenant), 'secret.unresolved')
    const causes = reported.map(({ subject, data }) => `${subject.name} ${Object(data).cause}`)
    const due = waiting.filter((each) => each.tenant === tenant).map(({ name, cause }) => `${name} ${cause}`)
    // A deployment may also report the cause of a later fault, if it is retried during that fault.
    expect(causes).toEqual(expect.arrayContaining(due))
    expect(new Set(causes).size).toBe(causes.length)
  }
})

/** Deployments of two tenants whose secrets have the same path. */
const steady = [
  { tenant: 'acme', name: 'steady' },
  { tenant: 'globex', name: 'steady' },
] as const

/** Number of reads of the deployment's secret path that the proxy saw. */
function readsOf({ tenant, name }: Waiting): number {
  const path = `GET /v1/kv-${cluster.platform[tenant].id}/data/resources/${name}?`
  return proxy.seen.filter((line) => line.startsWith(path)).length
}

/** How many reads, half a minute apart, lie between the first failed one and the start of the container, by their events. */
async function mostReads({ tenant, name }: Waiting): Promise<number> {
  const timesOf = async (type: string): Promise<number[]> =>
    (await eventsOf(api(tenant), type))
      .filter(({ subject }) => subject.name === name)
      .map(({ time }) => Date.parse(time))
  const [failed, running] = [await timesOf('secret.unresolved'), await timesOf('deployment.running')]
  // The first read is older than its event.
  return 2 + Math.floor((Math.max(...running) - Math.min(...failed)) / BACKOFF_MS)
}

/** Secret values that containers use at this time, read from the secrets store. */
async function inUse(): Promise<string[]> {
  const [acme, globex] = [eyeOf('acme'), eyeOf('globex')]
  const documents = await Promise.all([
    acme.read('resources/web-db', 1),
    acme.read('resources/web-key', 1),
    acme.read('resources/once', 2),
    acme.read('resources/later', 1),
    globex.read('resources/refused', 1),
  ])
  return documents.flatMap((document) => Object.values(document))
}

async function knownOf(tenant: Tenant): Promise<Known> {
  const { body } = await api(tenant).get('/api/v1/nodes')
  const nodeIds = Object.values<{ id: string }>(Object(body['items'])).map(({ id }) => id)
  return { tenant: cluster.platform[tenant].id, deployments: [...names], labels: [...labels], nodeIds }
}

test('no value is anywhere but in the secrets store and in the configuration of its containers', async () => {
  // The registry is open, and the node of the new image gets the credential all the same.
  await accepted(api('acme').put(`/api/v1/registries/${cluster.lab.registry.host}/credential`, REGISTRY))
  const { reference } = await cluster.lab.registry.pushBusyboxImage('acme/marked', '1.0', { page: 'marked' })
  const route = { host: `${MARK}.example`, path: '/', port: 8080 }
  const marking = { image: reference, routes: [route] }
  const secrets = [entry('S', MARK, { generate: { keys: ['k0'] } })]
  await create(besideApi(), deployment(MARK, { ...marking, secrets }))
  await untilPhase(api('acme'), MARK, 'Running')
  for (const tenant of ['acme', 'globex'] as const)
    answers.push(...(await readEverything(cluster, api(tenant), await knownOf(tenant))))
  const platformApi = recording(cluster.platform.api(), answers)
  for (const path of ['/metrics', '/api/v1/tenants']) await accepted(platformApi.get(path))

  const logs = [...cluster.platform.logLines, ...cluster.gateway.logLines, server.output()]
  const used = await inUse()
  const [marked] = await placementsOf(api('acme'), MARK)
  const node = marked?.nodeName ?? ''
  const assignment = (await inspect(cluster, node, MARK)).Config.Labels['holdfast.io/assignment']

  const search = searchFor([...canaries.all, MARK, assignment])
  const held = new Set(cluster.lab.nodes.flatMap((each) => [...searchEngine(each, search)]))
  expect(used.filter((value) => !held.has(value)).map(hashOf)).toEqual([])
  const { auditLogPath } = store
  const found = [...searchArtefacts(cluster, { logs, answers, auditLogPath }, search)]
  const isMark = (value: string) => value === MARK || value === assignment
  const sees = found.filter(([, values]) => [...values].some(isMark)).map(([place]) => place)
  expect(sees).toEqual(expect.arrayContaining(placesOfMark(node)))
  const leaks = found.flatMap(([place, values]) =>
    [...values].filter((value) => !isMark(value)).map(() => place),
  )
  console.log(
    `${canaries.all.size} values, ${used.length} of them in containers; ${answers.length} responses, ${logs.length} log lines: ` +
      `${leaks.length} leaks, the mark in ${sees.length} places`,
  )
  expect(canaries.all.size).toBeGreaterThanOrEqual(200)
  expect(leaks).toEqual([])
})

/** Places in which the public mark must be found, one for each kind of artifact. */
const placesOfMark = (node: string) => [
  'logs of the servers',
  'answers',
  'audit log of the secrets store',
  ...(cluster.etcd?.members ?? []).flatMap(({ name }) => [
    expect.stringMatching(`^${name}: data/member/wal/`),
    `${name}: data/member/snap/db`,
  ]),
  ...['agent/desired.json', 'agent.log', 'lib/caddy/config.json'].map((file) => `${node}: ${file}`),
]

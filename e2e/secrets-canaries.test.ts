// Two hundred secrets are written, generated, rotated and used by running containers on full nodes of both engine
// versions. Then everything that the product wrote or sent is searched for each value, in every encoding. The test never
// reads a value out of a container: a command in the container computes its hash.

import { hash, randomBytes } from 'node:crypto'
import { sharedSecretsStore } from '@holdfast/testkit'
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
  untilHealed,
  untilPhase,
  untilRevision,
} from '@holdfast/testkit/scenarios/lab-reads'
import { allProved, rotationOf, untilRotation } from '@holdfast/testkit/scenarios/rotate'
import { nodesOf } from '@holdfast/testkit/scenarios/routed-page'
import { type ServerProcess, startServerProcess } from '@holdfast/testkit/scenarios/server-process'
import { type LabPlatform, startLabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'
import { searchFor } from '@holdfast/testkit/secrets/find-values'
import { createStoreEye } from '@holdfast/testkit/secrets/store-eye'
import { afterAll, beforeAll, expect, test } from 'vitest'

const canaries = createCanaryValues()
const REGISTRY = { username: 'robot', password: String(canaries.document(1)['k0']).slice(0, 24) }
/** A public text that must be found in every searched place, which proves that a secret there would be found too. */
const MARK = `mark-${randomBytes(8).toString('hex')}`

let cluster: LabPlatform
/** A server in its own process that answers half of the requests and serves secrets, with a log as in production. */
let server: ServerProcess
const answers: string[] = []
const streams: (() => void)[] = []
const labels = new Set<string>()
const names = new Set<string>()

beforeAll(async () => {
  cluster = await startLabPlatform({
    nodesPerTenant: { acme: 2, globex: 1 },
    etcdMembers: 3,
    registry: { htpasswd: REGISTRY },
  })
  server = await startServerProcess(cluster.platform, ['api', 'broker'])
  const { acme, globex, baseUrl } = cluster.platform
  for (const { token } of [acme, globex])
    streams.push(recordStream(`${baseUrl}/api/v1/events/stream`, token, answers))
  for (const tenant of ['acme', 'globex'])
    await accepted(api(tenant).put(`/api/v1/registries/${cluster.lab.registry.host}/credential`, REGISTRY))
})
afterAll(async () => {
  for (const end of streams) end()
  await cluster?.stop()
  await server?.remove()
})

const api = (tenant: string): ApiClient => recording(cluster.api(tenant), answers)
const besideApi = (): ApiClient => recording(server.api(cluster.platform.acme.token), answers)
const eyeOf = async (tenant: 'acme' | 'globex') =>
  createStoreEye({ ...(await sharedSecretsStore()), tenant: cluster.platform[tenant].id })

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
  const written = canaries.document(40)
  const keys = keysOf(40)
  await create(
    besideApi(),
    deployment('web', {
      replicas: 2,
      environment: { MODE: 'lab' },
      placement: { antiAffinity: ['web'] },
      secrets: [
        entry('DB', 'web-db', { values: written }),
        entry('KEY', 'web-key', { generate: { keys: keysOf(20) } }),
      ],
      composedEnvironment: { URL: 'redis://app:{{secret.web-db.k1}}@db/{{secret.web-key.k0}}' },
    }),
  )
  await untilPhase(api('acme'), 'web', 'Running')
  const generated = await (await eyeOf('acme')).read('resources/web-key', 1)
  canaries.learn(generated)
  const placed = await placementsOf(api('acme'), 'web')
  expect(placed.map(({ nodeName }) => nodeName).sort()).toEqual(nodesOf(cluster, 'acme'))
  const proofs = new Set<string>()
  for (const { nodeName } of placed) {
    const names = [...keys.map((key) => `$DB_${key}`), '$KEY_k0', '$URL', '$MODE']
    const url = `redis://app:${written['k1']}@db/${generated['k0']}`
    const expected = [...keys.map((key) => String(written[key])), String(generated['k0']), url, 'lab']
    expect(await hashesIn(nodeName, 'web', names)).toEqual(expected.map(hashOf))
    proofs.add((await inspect(cluster, nodeName, 'web')).Config.Labels['holdfast.io/proof'])
  }
  expect(proofs.size).toBe(2)
})

test('separates equal paths of two tenants, and starts a waiting container with the first version', async () => {
  const globex = api('globex')
  const [node = ''] = nodesOf(cluster, 'globex')
  await create(globex, deployment('web', { secrets: [entry('DB', 'web-db')] }))
  await untilPhase(globex, 'web', 'Degraded')
  const { body } = await globex.get('/api/v1/deployments/web')
  expect(body['status']).toMatchObject({
    reason: 'secret_unresolved',
    message: expect.stringContaining('Secret DB (resources/web-db) has no material'),
  })
  expect(await containersOn(cluster, node)).toEqual([])
  const unresolved = await eventsOf(globex, 'secret.unresolved')
  expect(unresolved.map(({ data }) => Object(data).cause)).toEqual(['missing'])
  const values = canaries.document(30)
  await accepted(globex.put('/api/v1/secrets/resources/web-db', { values, generate: { keys: ['own'] } }))
  canaries.learn(await (await eyeOf('globex')).read('resources/web-db', 1))
  await untilHealed(globex, 'web')
  expect(await hashesIn(node, 'web', ['$DB_k0', '$DB_k29'])).toEqual(
    [values['k0'], values['k29']].map((value) => hashOf(String(value))),
  )
})

test('rotates a credential to written values, then stages generated ones and aborts', async () => {
  const client = besideApi()
  const rotate = (body: object) =>
    accepted(client.post('/api/v1/deployments/shop/secrets/rotate', { secret: 'APP', ...body }))
  await create(
    client,
    deployment('shop', { secrets: [entry('APP', 'shop-app', { values: canaries.document(15) })] }),
  )
  await untilPhase(api('acme'), 'shop', 'Running')
  await rotate({ phase: 'stage', values: canaries.document(15) })
  await rotate({ phase: 'overlap' })
  // The restart recreates the container, which then gets both versions of the secret.
  await accepted(client.post('/api/v1/deployments/shop/restart', undefined))
  await untilRevision(api('acme'), 'shop', 2)
  await rotate({ phase: 'cutover' })
  await untilRotation(api('acme'), 'the new values are proved', allProved)
  await rotate({ phase: 'retire' })
  await rotate({ phase: 'stage', generate: { keys: keysOf(15) } })
  const { versions } = await rotationOf(api('acme'))
  canaries.learn(await (await eyeOf('acme')).read('resources/shop-app', Number(versions.new)))
  await rotate({ phase: 'abort' })
})

test('handles secret values in repeated, rejected, dry-run, update and delete requests', async () => {
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
  await create(
    client,
    deployment('gone', { secrets: [entry('S', 'gone', { values: canaries.document(15) })] }),
  )
  await untilPhase(api('acme'), 'gone', 'Running')
  await accepted(client.delete('/api/v1/deployments/gone'))
})

/** Secret values that containers use at this time, read from the secrets store. */
async function inUse(): Promise<string[]> {
  const [acme, globex] = [await eyeOf('acme'), await eyeOf('globex')]
  const documents = await Promise.all([
    acme.read('resources/web-db', 1),
    acme.read('resources/web-key', 1),
    globex.read('resources/web-db', 1),
    acme.read('resources/shop-app', 2),
    acme.read('resources/once', 2),
  ])
  return documents.flatMap((document) => Object.values(document))
}

async function knownOf(tenant: 'acme' | 'globex'): Promise<Known> {
  const { body } = await api(tenant).get('/api/v1/nodes')
  const nodeIds = Object.values<{ id: string }>(Object(body['items'])).map(({ id }) => id)
  return { tenant: cluster.platform[tenant].id, deployments: [...names], labels: [...labels], nodeIds }
}

test('no value is anywhere but in the secrets store and in the configuration of its containers', async () => {
  const route = { host: `${MARK}.example`, path: '/', port: 8080 }
  await create(
    besideApi(),
    deployment(MARK, { routes: [route], secrets: [entry('S', MARK, { generate: { keys: ['k0'] } })] }),
  )
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

  const started = performance.now()
  const search = searchFor([...canaries.all, MARK, assignment])
  const held = new Set(cluster.lab.nodes.flatMap((each) => [...searchEngine(each, search)]))
  expect(used.filter((value) => !held.has(value)).map(hashOf)).toEqual([])
  const found = [...(await searchArtefacts(cluster, { logs, answers }, search))]
  const isMark = (value: string) => value === MARK || value === assignment
  const sees = found.filter(([, values]) => [...values].some(isMark)).map(([place]) => place)
  expect(sees).toEqual(expect.arrayContaining(placesOfMark(node)))
  const leaks = found.flatMap(([place, values]) =>
    [...values].filter((value) => !isMark(value)).map(() => place),
  )
  console.log(
    `${canaries.all.size} values, ${used.length} of them in containers; ${answers.length} responses, ${logs.length} log lines: ` +
      `${leaks.length} leaks, the mark in ${sees.length} places, searched in ${Math.round(performance.now() - started)} ms`,
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

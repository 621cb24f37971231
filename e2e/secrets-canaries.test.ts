// Two hundred secrets are written, generated, rotated and used by running containers on whole machines of both engine
// lines; then everything that the product wrote down or said is searched for each of them, in every form. A value is
// never read out of a container: it is hashed inside.

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
/** Stands rightly in everything: where it is found, a value would be found. */
const MARK = `mark-${randomBytes(8).toString('hex')}`

let whole: LabPlatform
/** Answers half of the requests and hands secrets out: what it logs goes through the same hands as in production. */
let server: ServerProcess
const answers: string[] = []
const streams: (() => void)[] = []
const labels = new Set<string>()
const names = new Set<string>()

beforeAll(async () => {
  whole = await startLabPlatform({
    nodesPerTenant: { acme: 2, globex: 1 },
    etcdMembers: 3,
    registry: { htpasswd: REGISTRY },
  })
  server = await startServerProcess(whole.platform, ['api', 'broker'])
  const { acme, globex, baseUrl } = whole.platform
  for (const { token } of [acme, globex])
    streams.push(recordStream(`${baseUrl}/api/v1/events/stream`, token, answers))
  for (const tenant of ['acme', 'globex'])
    await accepted(api(tenant).put(`/api/v1/registries/${whole.lab.registry.host}/credential`, REGISTRY))
})
afterAll(async () => {
  for (const end of streams) end()
  await whole?.stop()
  await server?.remove()
})

const api = (tenant: string): ApiClient => recording(whole.api(tenant), answers)
const besideApi = (): ApiClient => recording(server.api(whole.platform.acme.token), answers)
const eyeOf = async (tenant: 'acme' | 'globex') =>
  createStoreEye({ ...(await sharedSecretsStore()), tenant: whole.platform[tenant].id })

function entry(name: string, label: string, material: object = {}) {
  labels.add(label)
  return { name, vault_path: `resources/${label}`, anchor: 'external', ...material }
}
function deployment(name: string, over: object) {
  names.add(name)
  return { kind: 'Deployment', name, image: whole.image, replicas: 1, stopGracePeriod: '1s', ...over }
}

async function accepted(asked: Promise<ApiAnswer>): Promise<ApiAnswer> {
  const answer = await asked
  expect(answer.status, answer.text).toBeLessThan(300)
  return answer
}

const create = async (client: ApiClient, body: object) => accepted(client.post('/api/v1/deployments', body))

/** Of what a shell makes of each text inside the container. */
async function hashesIn(node: string, container: string, texts: readonly string[]): Promise<string[]> {
  const script = texts.map((text) => `printf %s "${text}" | sha256sum`).join('\n')
  const said = await whole.node(node).exec(['docker', 'exec', container, '/bin/sh', '-c', script])
  return said
    .trim()
    .split('\n')
    .map((line) => line.slice(0, 64))
}
const hashOf = (text: string): string => hash('sha256', text, 'hex')

test('containers on both engines are given what was written, what was generated, and what is made of both', async () => {
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
  expect(placed.map(({ nodeName }) => nodeName).sort()).toEqual(nodesOf(whole, 'acme'))
  const proofs = new Set<string>()
  for (const { nodeName } of placed) {
    const names = [...keys.map((key) => `$DB_${key}`), '$KEY_k0', '$URL', '$MODE']
    const url = `redis://app:${written['k1']}@db/${generated['k0']}`
    const given = [...keys.map((key) => String(written[key])), String(generated['k0']), url, 'lab']
    expect(await hashesIn(nodeName, 'web', names)).toEqual(given.map(hashOf))
    proofs.add((await inspect(whole, nodeName, 'web')).Config.Labels['holdfast.io/proof'])
  }
  expect(proofs.size).toBe(2)
})

test('a path of one tenant is another one in the next, and its first version is taken by itself', async () => {
  const globex = api('globex')
  const [node = ''] = nodesOf(whole, 'globex')
  await create(globex, deployment('web', { secrets: [entry('DB', 'web-db')] }))
  await untilPhase(globex, 'web', 'Degraded')
  const { body } = await globex.get('/api/v1/deployments/web')
  expect(body['status']).toMatchObject({
    reason: 'secret_unresolved',
    message: expect.stringContaining('Secret DB (resources/web-db) has no material'),
  })
  expect(await containersOn(whole, node)).toEqual([])
  const told = await eventsOf(globex, 'secret.unresolved')
  expect(told.map(({ data }) => Object(data).cause)).toEqual(['missing'])
  const values = canaries.document(30)
  await accepted(globex.put('/api/v1/secrets/resources/web-db', { values, generate: { keys: ['own'] } }))
  canaries.learn(await (await eyeOf('globex')).read('resources/web-db', 1))
  await untilHealed(globex, 'web')
  expect(await hashesIn(node, 'web', ['$DB_k0', '$DB_k29'])).toEqual(
    [values['k0'], values['k29']].map((value) => hashOf(String(value))),
  )
})

test('a credential is rotated: to written values and on, to generated ones and back', async () => {
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
  // Its container is made anew and holds both.
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

test('values come with requests that are repeated, refused, only tried, taken over, and taken away', async () => {
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

/** Those that containers hold now, by what the secrets store says. */
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
  return { tenant: whole.platform[tenant].id, deployments: [...names], labels: [...labels], nodeIds }
}

test('no value is anywhere but in the secrets store and in the configuration of its containers', async () => {
  const route = { host: `${MARK}.example`, path: '/', port: 8080 }
  await create(
    besideApi(),
    deployment(MARK, { routes: [route], secrets: [entry('S', MARK, { generate: { keys: ['k0'] } })] }),
  )
  await untilPhase(api('acme'), MARK, 'Running')
  for (const tenant of ['acme', 'globex'] as const)
    answers.push(...(await readEverything(whole, api(tenant), await knownOf(tenant))))
  const platformApi = recording(whole.platform.api(), answers)
  for (const path of ['/metrics', '/api/v1/tenants']) await accepted(platformApi.get(path))

  const logs = [...whole.platform.logLines, ...whole.gateway.logLines, server.said()]
  const used = await inUse()
  const [marked] = await placementsOf(api('acme'), MARK)
  const node = marked?.nodeName ?? ''
  const assignment = (await inspect(whole, node, MARK)).Config.Labels['holdfast.io/assignment']

  const started = performance.now()
  const search = searchFor([...canaries.all, MARK, assignment])
  const held = new Set(whole.lab.nodes.flatMap((each) => [...searchEngine(each, search)]))
  expect(used.filter((value) => !held.has(value)).map(hashOf)).toEqual([])
  const found = [...(await searchArtefacts(whole, { logs, answers }, search))]
  const isMark = (value: string) => value === MARK || value === assignment
  const sees = found.filter(([, values]) => [...values].some(isMark)).map(([place]) => place)
  expect(sees).toEqual(expect.arrayContaining(placesOfMark(node)))
  const leaks = found.flatMap(([place, values]) =>
    [...values].filter((value) => !isMark(value)).map(() => place),
  )
  console.log(
    `${canaries.all.size} values, ${used.length} of them in containers; ${answers.length} answers, ${logs.length} lines: ` +
      `${leaks.length} leaks, the mark in ${sees.length} places, searched in ${Math.round(performance.now() - started)} ms`,
  )
  expect(canaries.all.size).toBeGreaterThanOrEqual(200)
  expect(leaks).toEqual([])
})

/** Of every kind of artefact one. */
const placesOfMark = (node: string) => [
  'logs of the servers',
  'answers',
  'audit log of the secrets store',
  ...(whole.etcd?.members ?? []).flatMap(({ name }) => [
    expect.stringMatching(`^${name}: data/member/wal/`),
    `${name}: data/member/snap/db`,
  ]),
  ...['agent/desired.json', 'agent.log', 'lib/caddy/config.json'].map((file) => `${node}: ${file}`),
]

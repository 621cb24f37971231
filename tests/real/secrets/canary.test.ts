// Secrets are planted in every field of every request that can be rejected. No response, log, etcd file or audit log of
// the secrets store may contain them.

import { readFileSync } from 'node:fs'
import { type EtcdCluster, sharedSecretsStore, startEtcd } from '@holdfast/testkit'
import { CANARY_FORMS, createCanarySource, findCanary } from '@holdfast/testkit/hostile/canaries'
import { type Planting, plantings } from '@holdfast/testkit/hostile/plant'
import { exchangeAlone } from '@holdfast/testkit/hostile/raw-connection'
import { requestText } from '@holdfast/testkit/hostile/request-text'
import { searchFiles } from '@holdfast/testkit/hostile/search-files'
import { inRun } from '@holdfast/testkit/long-run'
import { type Platform, startPlatform } from '@holdfast/testkit/platform/start-platform'
import { BODY_PROVOCATIONS } from '@holdfast/testkit/provocations/body-provocations'
import { prepareWorld, provoke, type Sent, type World } from '@holdfast/testkit/provocations/provoke'
import { REQUEST_PROVOCATIONS } from '@holdfast/testkit/provocations/request-provocations'
import { isInTurn } from '@holdfast/testkit/rotation'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'

let etcd: EtcdCluster
let platform: Platform
let world: World
const canaries = createCanarySource()
/** Number of planted secrets that were sent, over all tests. */
let sent = 0
const codes = new Set<string>()

beforeAll(async () => {
  // etcd takes frequent snapshots, so that the search covers the database, the log and a snapshot.
  etcd = await startEtcd({ snapshotCount: 50 })
  platform = await startPlatform({ endpoints: etcd.endpoints })
  world = await prepareWorld(platform)
})
afterAll(async () => {
  await platform.stop()
  await etcd.stop()
})

/** Sends a request. A rejection must contain no planted secret, and only dry runs may be accepted. */
async function send(request: Sent, what: string): Promise<void> {
  const answer = await provoke(world, request)
  sent += 1
  for (const code of answer.codes) codes.add(code)
  expect(answer.status, what).toBeLessThan(500)
  if (answer.status < 400)
    return void expect(answer.text, `${what} was accepted`).not.toContain('"deployment":{')
  const headers = [...answer.headers].map(([name, value]) => `${name}: ${value}`).join('\n')
  note(findCanary(`${headers}\n${answer.text}`), `${request.method ?? 'POST'} ${request.path ?? ''}, ${what}`)
}

/** All leaks that were found, so that the test reports every one and not only the first. */
const leaks: string[] = []
afterEach(() => {
  expect(leaks.splice(0).slice(0, 12)).toEqual([])
})
function note(found: string | undefined, where: string): void {
  if (found !== undefined) leaks.push(`${where}: ${found}`)
}

/** Turns a request into a dry run, which runs the whole admission and stores nothing even if it is accepted. */
function dry({ method = 'POST', path = '/api/v1/deployments', ...rest }: Sent): Sent {
  const writes = /^\/api\/v1\/deployments(?:\/[\w-]+)?$/.test(path) && ['POST', 'PUT'].includes(method)
  return { method, path: writes ? `${path}?dryRun=true` : path, ...rest }
}

const isDeployment = ({ path = '' }: Sent): boolean => path.startsWith('/api/v1/deployments')

/** A body with every field of a deployment, and with fields that are reserved for later. */
const fullBody = () => ({
  kind: 'Deployment',
  name: 'probe',
  image: platform.image,
  replicas: 1,
  healthCheck: {
    type: 'exec',
    command: ['true'],
    retries: 3,
    timeout: '10s',
    interval: '30s',
    startPeriod: '1s',
  },
  environment: { LOG_LEVEL: 'debug', DB_PASSWORD: '' },
  composedEnvironment: { URL: 'postgres://{{secret.db.password}}' },
  secrets: [
    {
      name: 'DB',
      vault_path: 'deployments/db',
      anchor: 'external',
      rotation: 'manual',
      values: { password: 'x' },
      generate: { keys: ['a'], length: 32, charset: 'ascii', bytes: 32, encoding: 'hex' },
    },
  ],
  secretsVersion: 0,
  volumes: [{ volume: 'vol_1', target: '/data', type: 'volume', readOnly: false }],
  placement: {
    constraints: [{ label: 'rack', operator: 'in', values: ['a'] }],
    affinity: ['web'],
    antiAffinity: ['web'],
    spread: 'rack',
    residency: { country: 'DE', region: 'eu', blockedCountries: ['US'] },
  },
  dependsOn: { web: 'healthy' },
  resources: { cpuMillis: 1, memoryBytes: 1 },
  limits: { cpuMillis: 1, memoryBytes: 6 * 1024 * 1024 },
  update: { order: 'start-first', parallelism: 1, failureAction: 'pause', progressDeadline: '300s' },
  routes: [{ host: 'a.example', path: '/', port: 80 }],
  labels: { team: 'a' },
  command: ['sh'],
  args: ['-c'],
  stopGracePeriod: '10s',
  nodeId: 'node_1',
  uid: 'dep_1',
  status: { phase: 'Running' },
})

/** Fields whose values the product treats as secret, whatever text they contain. */
const SECRET_PLACE = /\b(?:environment\.|composedEnvironment\.|values|password)/i

let planted = 0
/** Plants a secret in each field, one request per field; in a CI run in a part of the fields of each request. */
async function plantEverywhere(request: Sent, text: () => string, wanted: (planting: Planting) => boolean) {
  for (const planting of plantings(request.body, 'PLACE')) {
    if (!wanted(planting)) continue
    planted += 1
    if (!isInTurn('planted-fields', planted)) continue
    const body = JSON.parse(JSON.stringify(planting.body).replaceAll('PLACE', text()))
    await send({ ...request, body }, planting.what)
  }
}

describe('a secret in a body is not quoted', () => {
  const shapes = canaries.shaped().length

  test.each(['POST', 'PUT'])('if it has a known shape, anywhere in a deployment, by %s', async (method) => {
    const path = method === 'POST' ? '/api/v1/deployments' : '/api/v1/deployments/web'
    for (let shape = 0; shape < shapes; shape += 1)
      await plantEverywhere(
        { method, path, body: { ...fullBody(), zz_unknown: 1 } },
        () => canaries.shaped()[shape]?.text ?? '',
        () => true,
      )
  })

  test.each(['POST', 'PUT'])(
    'if it has no known shape, in secret fields of a deployment, by %s',
    async (method) => {
      const path = method === 'POST' ? '/api/v1/deployments' : '/api/v1/deployments/web'
      await plantEverywhere(
        { method, path, body: { ...fullBody(), zz_unknown: 1 } },
        () => canaries.bare().text,
        ({ what }) => SECRET_PLACE.test(what) && !what.includes('key') && !what.includes('constraints'),
      )
    },
  )

  test('if it has a known shape, anywhere in other records', async () => {
    const tenant = platform.acme.id
    const rows: readonly Sent[] = [
      {
        path: `/api/v1/tenants/${tenant}/tokens`,
        body: { name: 'a', role: 'viewer', expiresAt: '2099-01-01T00:00:00Z' },
      },
      { as: 'platform', path: '/api/v1/tenants', body: { name: 'a' } },
      {
        as: 'platform',
        method: 'PATCH',
        path: `/api/v1/tenants/${tenant}`,
        body: { name: 'a', quotas: { nodes: 1 } },
      },
      {
        method: 'PUT',
        path: `/api/v1/registries/${platform.registryHost}/credential`,
        body: { username: 'a', password: 'b' },
      },
    ]
    for (const row of rows)
      for (let shape = 0; shape < shapes; shape += 1)
        await plantEverywhere(
          { ...row, body: { ...Object(row.body), zz_unknown: 1 } },
          () => canaries.shaped()[shape]?.text ?? '',
          () => true,
        )
  })

  test('if it has no known shape, in a rejected registry credential', async () => {
    const path = `/api/v1/registries/${platform.registryHost}/credential`
    const secret = () => canaries.bare().text
    for (const body of [
      { username: 'a', password: [secret()] },
      { username: 'a', password: { a: secret() } },
      { username: 'a', password: secret(), more: 1 },
      { username: 'a', pasword: secret() },
      { username: 'a', Password: secret() },
      { username: '', password: secret() },
    ])
      await send({ method: 'PUT', path, body }, JSON.stringify(Object.keys(body)))
    await send(
      {
        method: 'PUT',
        path: '/api/v1/registries/elsewhere.example/credential',
        body: { password: secret() },
      },
      'host',
    )
  })

  test('if the body is invalid JSON', async () => {
    const [token, url] = canaries.shaped()
    for (const text of [token?.text ?? '', url?.text ?? '', canaries.bare().text]) {
      for (const body of [
        `{"environment":{"A":"${text}`,
        `{"environment":{"A":"${text}","A":1}}`,
        `{"a":"${text}"} trailing`,
        `${text}`,
        `"${text}"`,
        `["${text}"]`,
        `{"A":"${text}\\ud800"}`,
        `{"environment":${'['.repeat(40)}"${text}"${']'.repeat(40)}}`,
        `{"environment":{"A":${'9'.repeat(500)},"B":"${text}"}}`,
      ])
        await send({ body }, `malformed ${body.slice(0, 20)}`)
    }
    for (const { text } of canaries.shaped())
      await send({ body: `{"values":{"${text}":1,"${text}":2}}` }, 'a repeated key')
  })
})

describe('a secret in the path or headers of a request is not quoted', () => {
  test('if it is sent for authorization', async () => {
    const base64 = (text: string) => Buffer.from(text).toString('base64')
    for (const value of [
      () => `Bearer ${canaries.bare().text}`,
      () => `Basic ${base64(`user:${canaries.bare().text}`)}`,
      () => canaries.bare().text,
      () => `bearer ${canaries.shaped()[0]?.text}`,
      () => `Bearer ${canaries.shaped()[0]?.text}, Bearer ${canaries.bare().text}`,
      () => `Digest username="a", response="${canaries.bare().text}"`,
    ])
      for (const path of ['/api/v1/deployments', '/api/v1/nowhere', '/metrics', '/docs/errors/nothing'])
        await send(
          { as: 'anonymous', method: 'GET', path, headers: { authorization: value() } },
          'authorization',
        )
  })

  test('if it has a known shape, in every header that is read', async () => {
    const names = ['x-tenant-id', 'if-match', 'idempotency-key', 'content-type', 'content-encoding']
    for (const name of names)
      for (const { text } of canaries.shaped()) {
        const headers = { [name]: `${text} ${text}` }
        await send({ body: { zz: 1 }, headers }, name)
        await send({ method: 'PUT', path: '/api/v1/deployments/web', body: { zz: 1 }, headers }, name)
      }
    // The headers Host, Expect and Transfer-Encoding are left out, because fetch sets them itself.
    for (const name of ['Host', 'Expect', 'Transfer-Encoding'])
      for (const { text } of canaries.shaped()) {
        const head = `GET /api/v1/deployments HTTP/1.1\r\nAuthorization: Bearer ${platform.acme.token}\r\n`
        const { answers } = await exchangeAlone(
          platform.config.listen.port,
          `${head}${name}: ${text}\r\n\r\n`,
        )
        sent += 1
        for (const { raw } of answers) note(findCanary(raw), name)
      }
  })

  test('in a header that is not read', async () => {
    for (const name of [
      'cookie',
      'x-api-key',
      'proxy-authorization',
      'x-forwarded-for',
      'user-agent',
      'referer',
    ])
      await send({ body: { zz: 1 }, headers: { [name]: canaries.bare().text } }, name)
  })

  test('if it has a known shape, in a query', async () => {
    for (const { text } of canaries.shaped()) {
      const shape = encodeURIComponent(text)
      for (const query of [
        `${shape}=1`,
        `zz=${shape}`,
        `limit=${shape}`,
        `limit=${shape}&limit=${shape}`,
        `cursor=${shape}`,
        `${shape}[a]=${shape}`,
      ])
        await send({ method: 'GET', path: `/api/v1/deployments?${query}` }, query)
      for (const query of [`after=${shape}`, `type=${shape}`, `severity=${shape}`, `subject=${shape}&zz=1`])
        await send({ method: 'GET', path: `/api/v1/events?${query}` }, query)
    }
    await send({ method: 'GET', path: `/api/v1/deployments?password=${canaries.bare().text}` }, 'password')
    await send({ method: 'GET', path: `/api/v1/deployments?token=${canaries.bare().text}` }, 'token')
  })

  test('if it has a known shape, in a path', async () => {
    for (const { text } of canaries.shaped()) {
      for (const shape of [text, encodeURIComponent(text)]) {
        for (const { method, path } of platform.server.endpoints.filter((each) => each.path.includes('{'))) {
          for (const [parameter] of path.matchAll(/\{\w+\}/g)) {
            const filled = path
              .replace(parameter, shape)
              .replace('{tenant}', platform.acme.id)
              .replaceAll(/\{\w+\}/g, 'a')
            const raw = requestText({
              method,
              path: filled,
              token: platform.platformToken,
              ...bodyFor(method),
            })
            const { answers } = await exchangeAlone(platform.config.listen.port, raw)
            sent += 1
            for (const answer of answers) note(findCanary(answer.raw), `${method} ${path}`)
          }
        }
        await send({ method: 'GET', path: `/api/v1/${shape}` }, 'an unknown path')
        await send({ as: 'anonymous', method: 'GET', path: `/docs/errors/${shape}` }, 'a page')
      }
    }
  })
})

const bodyFor = (method: string) =>
  ['POST', 'PUT', 'PATCH'].includes(method) ? { body: { zz_unknown: 1 } } : {}

/** Bodies with more characters are not planted: they are long lists of equal elements. */
const LONGEST_PLANTED = inRun(1_000, 5_000)

describe('for every code that can be provoked', () => {
  test('the same request with secrets in it is rejected without quoting them', async () => {
    const provocations = [...BODY_PROVOCATIONS, ...REQUEST_PROVOCATIONS]
    for (const { code, sent: make } of provocations) {
      // A reused Idempotency-Key is never rejected in a dry run, so this request is sent for real.
      const request = code === 'idempotency_key_reused' ? make(world) : dry(make(world))
      const cookie = { ...request.headers, cookie: canaries.bare().text, 'x-api-key': canaries.bare().text }
      await send({ ...request, headers: cookie }, code)
      if (typeof request.body !== 'object' || request.body === null) continue
      const environment = { LOG_LEVEL: canaries.bare().text, DB_PASSWORD: canaries.bare().text }
      if (isDeployment(request))
        await send({ ...request, body: { ...request.body, environment } }, `${code} with an environment`)
      if (JSON.stringify(request.body).length > LONGEST_PLANTED) continue
      const refused = isDeployment(request) ? request.body : { ...request.body, zz_unknown: 1 }
      await plantEverywhere(
        { ...request, body: refused },
        () => canaries.shaped()[0]?.text ?? '',
        () => true,
      )
    }
    const unseen = provocations.map(({ code }) => code).filter((code) => !codes.has(code))
    expect(unseen).toEqual([])
  }, 180_000)
})

describe('an accepted secret', () => {
  test('in a registry credential is in the secrets store and nowhere else', async () => {
    const store = await sharedSecretsStore()
    const [username, password] = [canaries.bare().secret, canaries.bare().secret]
    const api = platform.api(platform.acme.token)
    const path = `/api/v1/registries/${platform.registryHost}/credential`
    const written = await api.put(path, { username, password })
    expect(written.status).toBe(200)
    const held = await fetch(
      `${store.address}/v1/kv-${platform.acme.id}/data/registries/${platform.registryHost.replace(':', '_')}`,
      { headers: { 'x-vault-token': store.rootToken } },
    )
    expect(await held.text()).toContain(password)
    const used = await api.post('/api/v1/deployments', {
      kind: 'Deployment',
      name: 'pulled',
      image: platform.image,
    })
    expect(used.status).toBe(201)
    const seen = [written, used]
    for (const read of [
      '/api/v1/registries',
      '/api/v1/audit?limit=500',
      '/api/v1/events?limit=500',
      '/api/v1/deployments',
    ])
      seen.push(await api.get(read))
    for (const answer of seen) expect(findCanary(answer.text)).toBeUndefined()
  })

  test('sent as Idempotency-Key is stored only as a hash', async () => {
    const headers = { 'idempotency-key': canaries.shaped()[0]?.text ?? '' }
    const body = { kind: 'Deployment', name: 'once', image: platform.image }
    const api = platform.api(platform.acme.token)
    const first = await api.post('/api/v1/deployments', body, headers)
    const again = await api.post('/api/v1/deployments', body, headers)
    expect([first.status, again.text]).toEqual([201, first.text])
    expect(findCanary(first.text)).toBeUndefined()
  })

  test('that is an API token is returned once and stored only as a hash', async () => {
    // The secret part of a token follows the second underscore and may itself contain underscores.
    const secrets = [platform.acme.token, platform.globex.token, platform.platformToken].map(
      (token) => /^hf_[^_]+_(.{40,})$/.exec(token)?.[1] ?? expect.fail('not a token'),
    )
    expect(searchFiles(etcd.members[0]?.dataDir ?? '', secrets)).toEqual([])
    expect(platform.logLines.filter((line) => secrets.some((secret) => line.includes(secret)))).toEqual([])
  })
})

describe('after all requests', () => {
  test("no canary is in the logs, in etcd's files, or in the audit log of the secrets store", async () => {
    console.log(`canaries: ${sent} requests, ${codes.size} codes`)
    const visible = 'visible-mark-of-this-test'
    const api = platform.api(platform.acme.token)
    const { image } = platform
    const marked = { kind: 'Deployment', name: 'marked', image, labels: { mark: visible } }
    expect((await api.post('/api/v1/deployments', marked)).status).toBe(201)
    const folder = etcd.members[0]?.dataDir ?? ''
    // A counter-check that the search works: it finds text that was rightly stored.
    expect(searchFiles(folder, [visible]).length).toBeGreaterThan(0)
    expect(searchFiles(folder, CANARY_FORMS)).toEqual([])
    expect(platform.logLines.length).toBeGreaterThan(sent)
    expect(platform.logLines.filter((line) => findCanary(line) !== undefined).slice(0, 3)).toEqual([])
    const { auditLogPath } = await sharedSecretsStore()
    const audit = readFileSync(auditLogPath, 'utf8')
    expect(audit).toContain('registries')
    expect(findCanary(audit)).toBeUndefined()
  })
})

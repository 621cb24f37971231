// Tries every endpoint as every identity, with every mismatch between token, X-Tenant-ID header and tenant in the path.

import { randomUUID } from 'node:crypto'
import { codeOf, refusalFault } from '@holdfast/testkit/hostile/check-refusal'
import { type Identity, makeIdentities, makeTenantIdentities } from '@holdfast/testkit/hostile/identities'
import { inParallel } from '@holdfast/testkit/hostile/in-parallel'
import { type MarkedTenant, markTenant } from '@holdfast/testkit/hostile/marked-tenant'
import type { RawAnswer } from '@holdfast/testkit/hostile/parse-answers'
import type { RawConnection } from '@holdfast/testkit/hostile/raw-connection'
import { fillPath, requestText } from '@holdfast/testkit/hostile/request-text'
import { expectedOutcome, NONEXISTENT, ROWS } from '@holdfast/testkit/hostile/role-table'
import { dumpTenants } from '@holdfast/testkit/platform/dump-keys'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import { isInTurn } from '@holdfast/testkit/rotation'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

let platform: Platform
let platformTenant: string
let identities: Identity[]
let tenantIdentities: Identity[]
/** Records of the tenant acme, and records of the tenant globex, which acme must not see. */
let own: MarkedTenant
let foreign: MarkedTenant
let foreignVolume: string
let foreignBackup: string
let foreignNetwork: string

beforeAll(async () => {
  platform = await ownPlatform({ settings: { volumes: { enabled: true } } })
  const { body } = await platform.api().get('/api/v1/tenants')
  const tenants = body['items'] as { id: string; platform: boolean }[]
  platformTenant = tenants.find((tenant) => tenant.platform)?.id ?? ''
  identities = await makeIdentities(platform, platformTenant)
  tenantIdentities = await makeTenantIdentities(platform)
  own = await markTenant(platform, platform.acme)
  foreign = await markTenant(platform, platform.globex)
  const volumesPath = `/api/v1/tenants/${platform.globex.id}/volumes`
  const { name } = foreign.deployment
  foreignVolume = await makeForeign(volumesPath, 'volume', { name, class: 'ephemeral', sizeBytes: 2 ** 30 })
  foreignBackup = await makeForeign('/api/v1/backups', 'backup', { deploymentName: name })
  foreignNetwork = await makeForeign('/api/v1/networks', 'network', { name, nodeId: foreign.node.id })
})
afterAll(() => platform.stop())

/** Creates a record of the tenant globex and returns its id. */
async function makeForeign(path: string, member: string, sent: object): Promise<string> {
  const { status, body, text } = await platform.api(platform.globex.token).post(path, sent)
  if (status !== 201) throw new Error(text)
  return String(Object(body[member] ?? body).id)
}

const endpoints = () =>
  platform.server.endpoints.map(({ method, path, body }) => ({ method, path, takesBody: body !== undefined }))
const port = () => platform.config.listen.port

interface TenantText {
  readonly name: string
  readonly lines: readonly string[]
  readonly means?: string
}

/** Variants of the X-Tenant-ID header that the test sends. */
function headerForms(): TenantText[] {
  const { acme, globex } = platform
  const header = (value: string) => [`X-Tenant-ID: ${value}`]
  const unknown = randomUUID()
  return [
    { name: 'none', lines: [] },
    { name: 'acme', lines: header(acme.id), means: acme.id },
    { name: 'globex', lines: header(globex.id), means: globex.id },
    { name: 'the platform', lines: header(platformTenant), means: platformTenant },
    { name: 'unknown', lines: header(unknown), means: unknown },
    { name: 'malformed', lines: header('acme'), means: 'invalid' },
    { name: 'empty', lines: header(''), means: 'empty' },
    { name: 'upper case', lines: header(acme.id.toUpperCase()), means: 'invalid' },
    { name: 'in braces', lines: header(`{${acme.id}}`), means: 'invalid' },
    { name: 'twice', lines: [...header(acme.id), ...header(acme.id)], means: 'invalid' },
    { name: 'both', lines: [...header(acme.id), ...header(globex.id)], means: 'invalid' },
    { name: 'both, spelt apart', lines: [...header(acme.id), `x-tenant-id: ${globex.id}`], means: 'invalid' },
    { name: 'a list', lines: header(`${acme.id}, ${globex.id}`), means: 'invalid' },
  ]
}

/** Values that the test sends for the path parameter {tenant}: ids, names, and texts that are neither. */
function pathForms(): string[] {
  const { acme, globex } = platform
  const names = ['acme', 'globex', 'nowhere', 'ACME']
  return [acme.id, globex.id, platformTenant, randomUUID(), ...names, acme.id.toUpperCase(), '-']
}

/** The id of the tenant that a path names by its name; other texts unchanged. */
const idOf = (path: string): string => (path === 'acme' || path === 'globex' ? platform[path].id : path)

interface Knock {
  readonly endpoint: string
  readonly identity: Identity
  readonly header: TenantText
  readonly path: string | undefined
}

/**
 * Every endpoint as every identity. Of the combinations of header and path each run sends a part: the number of headers and the
 * number of paths are odd, so each part has every header and every path for each endpoint.
 */
function* everyKnock(): Generator<Knock> {
  let serial = 0
  for (const { method, path } of endpoints()) {
    const paths = path.includes('{tenant}') ? pathForms() : [undefined]
    for (const identity of identities)
      for (const header of headerForms())
        for (const each of paths) {
          serial += 1
          if (isInTurn('tenant-texts', serial))
            yield { endpoint: `${method} ${path}`, identity, header, path: each }
        }
  }
}

test('every endpoint has a row in the role table, and every row an endpoint', () => {
  const served = endpoints().map(({ method, path }) => `${method} ${path}`)
  expect(Object.keys(ROWS).sort()).toEqual(served.sort())
})

describe('tokens, headers and paths that disagree', () => {
  // Thousands of requests: a minute on a machine that other tests keep busy.
  test('every identity with any combination of token, header and path gets the documented outcome and no foreign byte', {
    timeout: 240_000,
  }, async () => {
    const existing = new Set([platform.acme.id, platform.globex.id, platformTenant])
    const before = await dumpTenants(platform)
    const faults: string[] = []
    let sent = 0
    await inParallel(port(), everyKnock(), async (knock, connection) => {
      sent += 1
      const fault = await knockFault(knock, connection, existing)
      if (fault !== undefined) faults.push(fault)
    })
    console.log(`cross-tenant matrix: ${sent} requests`)
    expect(faults.slice(0, 20)).toEqual([])
    expect(await dumpTenants(platform)).toEqual(before)
  })
})

async function knockFault(
  { endpoint, identity, header, path }: Knock,
  connection: RawConnection,
  existing: ReadonlySet<string>,
): Promise<string | undefined> {
  const row = ROWS[endpoint]
  const [method = '', pattern = ''] = endpoint.split(' ')
  if (row === undefined) return `${endpoint} has no row`
  const { token, caller } = identity
  const request = requestText({
    method,
    path: fillPath(pattern, { ...NONEXISTENT, ...(path === undefined ? {} : { tenant: path }) }),
    ...(token === undefined ? {} : { token }),
    headers: [...header.lines, ...(row.headers ?? [])],
    ...(row.body === undefined ? {} : { body: row.body }),
  })
  const { answers, hung, stray } = await connection.exchange(request)
  const [answer] = answers
  const expected = expectedOutcome(row, caller, {
    ...(header.means === undefined ? {} : { header: header.means }),
    ...(path === undefined ? {} : { path: idOf(path) }),
    existing,
  })
  const where = `${endpoint} by ${identity.name}, X-Tenant-ID ${header.name}, {tenant} ${path}`
  if (answer === undefined || answers.length !== 1 || hung || stray !== '')
    return `${where}: ${answers.length} answers`
  if (codeOf(answer) !== expected) return `${where}: ${codeOf(answer)}, expected ${expected}`
  const malformed = answer.status >= 400 ? refusalFault(answer, platform.baseUrl) : undefined
  if (malformed !== undefined) return `${where}: ${malformed}`
  const seen = caller.known
    ? foreignTo(caller.tenant, caller.role, header.means ?? (path && idOf(path)))
    : 'all'
  const leaked = marksIn(answer, seen)
  return leaked === undefined ? undefined : `${where}: holds ${leaked}`
}

type Unseen = 'all' | 'own' | 'foreign'

/** Tenants whose marker texts must not be in the response. A platform-admin sees only the chosen tenant. */
function foreignTo(tenant: string, role: string, chosen: string | undefined): Unseen {
  const acts = role === 'platform-admin' ? (chosen ?? tenant) : tenant
  if (acts === own.id) return 'foreign'
  return acts === foreign.id ? 'own' : 'all'
}

/**
 * Finds marker texts of other tenants in a response. Words of the request are ignored, because a rejection quotes them.
 */
function marksIn({ raw }: RawAnswer, unseen: Unseen, sent = ''): string | undefined {
  const tenants = unseen === 'all' ? [own, foreign] : unseen === 'own' ? [own] : [foreign]
  return tenants
    .flatMap(({ mark, deployment, tokenId, node }) => [
      ...[mark, deployment.name, deployment.uid, tokenId],
      ...[node.name, node.id],
    ])
    .find((word) => raw.includes(word) && !sent.includes(word))
}

/** A response without the words of the request, for comparison. */
function without(answer: RawAnswer | undefined, words: readonly string[]): object {
  if (answer === undefined) return { status: 0 }
  const { date: _date, 'x-request-id': _id, ...headers } = answer.headers
  const text = words.reduce((rest, word) => rest.replaceAll(word, '<placeholder>'), answer.text)
  return { status: answer.status, headers, text }
}

/** For each path parameter: a value of the tenant globex, and a value of the same length that does not exist. */
function objectPairs(): { [parameter: string]: (readonly [foreign: string, missing: string])[] } {
  const { deployment, tokenId, node } = foreign
  return {
    name: [
      [deployment.name, `n${'0'.repeat(deployment.name.length - 1)}`],
      [deployment.uid, `dep_${'0'.repeat(26)}`],
    ],
    id: [
      [tokenId, `tok_${'0'.repeat(26)}`],
      [node.id, `node_${'0'.repeat(26)}`],
      [foreignVolume, `vol_${'0'.repeat(26)}`],
      [foreignBackup, `bak_${'0'.repeat(26)}`],
      [foreignNetwork, `net_${'0'.repeat(26)}`],
    ],
    nodeId: [[node.id, `node_${'0'.repeat(26)}`]],
    snap: [['none', 'none']],
    nodeName: [[node.name, `m${'0'.repeat(node.name.length - 1)}`]],
    revision: [['1', '1']],
    epoch: [['1', '1']],
    host: [[platform.registryHost, platform.registryHost]],
    code: [['not_found', 'not_found']],
    namespace: [['resources', 'resources']],
    resource: [[deployment.name, `n${'0'.repeat(deployment.name.length - 1)}`]],
    tenant: [[foreign.id, randomUUID()]],
  }
}

const BODIES: { readonly [method: string]: unknown } = {
  PUT: { replicas: 2 },
  POST: { name: 'x' },
  PATCH: { name: 'x' },
}

/** All requests with one path parameter that names an object of another tenant or none; {tenant} is the caller's own. */
function* everyPair(): Generator<{
  method: string
  pattern: string
  takesBody: boolean
  parameter: string
  pair: readonly [string, string]
}> {
  const pairs = objectPairs()
  for (const { method, path: pattern, takesBody } of endpoints()) {
    for (const [, parameter = ''] of pattern.matchAll(/\{(\w+)\}/g)) {
      const known = pairs[parameter]
      if (known === undefined)
        throw new Error(`{${parameter}} of ${pattern} needs a foreign and a missing value`)
      for (const pair of known) if (pair[0] !== pair[1]) yield { method, pattern, takesBody, parameter, pair }
    }
  }
}

describe("another tenant's object", () => {
  test('gets the same response as a missing one, by any method, for any role', async () => {
    let compared = 0
    for (const { method, pattern, takesBody, parameter, pair } of everyPair()) {
      for (const { name, token = '' } of tenantIdentities) {
        const ask = async (value: string) => {
          const path = fillPath(pattern, {
            ...NONEXISTENT,
            tenant: platform.acme.id,
            name: foreign.deployment.name,
            [parameter]: value,
          })
          const body = takesBody ? BODIES[method] : undefined
          const headers = [`X-Tenant-ID: ${platform.acme.id}`]
          const sent = { method, path, token, headers, ...(body === undefined ? {} : { body }) }
          return exchangeOnce(requestText(sent))
        }
        const [real, missing] = [await ask(pair[0]), await ask(pair[1])]
        expect(without(real, pair), `${method} ${pattern} by ${name}`).toEqual(without(missing, pair))
        // For a foreign secret label the list of consumers is empty and not an error, as for an unknown label.
        if (!pattern.endsWith('/consumers')) expect(real?.status).toBeGreaterThanOrEqual(400)
        compared += 1
      }
    }
    console.log(`foreign and missing compared: ${compared} pairs`)
  })

  test('named by X-Tenant-ID gets the same response as an unknown tenant, on every endpoint', async () => {
    const unknown = randomUUID()
    for (const { method, path: pattern } of endpoints()) {
      for (const { name, token = '' } of tenantIdentities) {
        const path = fillPath(pattern, { ...NONEXISTENT, tenant: platform.acme.id })
        const ask = (tenant: string) =>
          exchangeOnce(requestText({ method, path, token, headers: [`X-Tenant-ID: ${tenant}`] }))
        const [real, missing] = [await ask(foreign.id), await ask(unknown)]
        expect(without(real, [foreign.id]), `${method} ${pattern} by ${name}`).toEqual(
          without(missing, [unknown]),
        )
      }
    }
  })

  test('cannot be a dependency of a deployment', async () => {
    const api = platform.api(platform.acme.token)
    const depending = (on: string) =>
      api.post('/api/v1/deployments?dryRun=true', {
        kind: 'Deployment',
        name: 'depending',
        image: platform.image,
        dependsOn: { [on]: 'healthy' },
      })
    const real = await depending(foreign.deployment.name)
    const missing = await depending('n000000000000000000')
    expect(real.codes).toEqual(['dependency_not_found'])
    expect(real.text.replaceAll(foreign.deployment.name, 'n000000000000000000')).toEqual(missing.text)
  })
})

async function exchangeOnce(request: string): Promise<RawAnswer | undefined> {
  const answered: RawAnswer[] = []
  await inParallel(
    port(),
    [request],
    async (bytes, connection) => {
      const { answers } = await connection.exchange(bytes)
      answered.push(...answers)
    },
    1,
  )
  expect(answered).toHaveLength(1)
  return answered[0]
}

describe('no byte of another tenant is returned', () => {
  /** Query strings for every list, from every cursor of the tenant globex. */
  function queries(): string[] {
    const { deployment, cursor, eventCursor } = foreign
    return [
      '',
      '?limit=500',
      `?cursor=${cursor}`,
      `?after=${eventCursor}`,
      `?after=0-0&limit=500`,
      `?subject=${deployment.name}`,
      `?subject=${deployment.uid}`,
      '?type=deployment.created&limit=500',
    ]
  }

  test("in any list that a tenant's tokens can read, by any cursor or filter", async () => {
    let read = 0
    // Event streams are left out, because they do not end; tests/real/api/events-stream.test.ts reads them.
    const lists = endpoints().filter(({ method, path }) => method === 'GET' && !path.endsWith('/stream'))
    for (const { method, path: pattern } of lists) {
      for (const { name, token = '' } of tenantIdentities) {
        for (const query of queries()) {
          const path = fillPath(pattern, {
            ...NONEXISTENT,
            tenant: platform.acme.id,
            name: own.deployment.name,
            revision: '2',
            id: own.node.id,
          })
          const answer = await exchangeOnce(requestText({ method, path: `${path}${query}`, token }))
          // GET of a node's containers returns 503, because no agent is connected; all other lists must not fail.
          const most = path.endsWith('/containers') ? 503 : 499
          expect(answer?.status, `${method} ${path}${query}`).toBeLessThanOrEqual(most)
          expect(
            answer === undefined ? 'no answer' : marksIn(answer, 'foreign', query),
            `${path}${query} by ${name}`,
          ).toBeUndefined()
          if (answer?.raw.includes(own.mark) === true) read += 1
        }
      }
    }
    // A counter-check that the search works: it finds acme's own marker texts.
    expect(read).toBeGreaterThan(20)
  })

  test('in the pages without authentication', async () => {
    for (const path of [
      '/healthz',
      '/readyz',
      '/docs/',
      '/docs/manifest',
      '/openapi.json',
      '/docs/errors/not_found',
    ]) {
      const answer = await exchangeOnce(requestText({ method: 'GET', path }))
      expect(answer?.status).toBe(200)
      expect(answer === undefined ? 'no answer' : marksIn(answer, 'all'), path).toBeUndefined()
    }
  })

  test('to a platform-admin who chose the other tenant, and the access is audited there', async () => {
    const chosen = { 'x-tenant-id': platform.acme.id }
    const listed = await platform.api().get('/api/v1/deployments', chosen)
    expect(listed.text).toContain(own.mark)
    expect(listed.text).not.toContain(foreign.mark)
    const changed = await platform
      .api()
      .put(`/api/v1/deployments/${own.deployment.name}`, { replicas: 4 }, chosen)
    expect(changed.status).toBe(200)
    const audit = await platform.api(platform.acme.token).get('/api/v1/audit?limit=500')
    expect(audit.text).toContain('"onBehalf":true')
    expect((await platform.api(platform.globex.token).get('/api/v1/audit')).text).not.toContain(
      own.deployment.name,
    )
  })
})

// This test runs last, because it creates a deployment of acme with the name of another tenant's deployment.
test("another tenant's names and Idempotency-Keys are free", async () => {
  const api = platform.api(platform.acme.token)
  const body = { kind: 'Deployment', name: foreign.deployment.name, image: platform.image }
  const created = await api.post('/api/v1/deployments', body, { 'idempotency-key': foreign.idempotencyKey })
  expect(created.status).toBe(201)
  expect(created.text).not.toContain(foreign.mark)
  expect(created.text).not.toContain(foreign.deployment.uid)
  const removed = await api.delete(`/api/v1/deployments/${foreign.deployment.name}`)
  expect(removed.status).toBe(202)
  const still = await platform
    .api(platform.globex.token)
    .get(`/api/v1/deployments/${foreign.deployment.name}`)
  expect(still.text).toContain(foreign.mark)
})

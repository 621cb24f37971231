// The server alters no field silently. Over HTTP, GET returns the sent body plus the alterations that the response
// listed, and the log lists these alterations, too. packages/core/src/admission/properties.test.ts covers many more
// bodies.

import type { Alteration, DeploymentRecord, JsonObject } from '@holdfast/contract'
import { READ_ONLY_FIELDS } from '@holdfast/contract'
import { arbitraryChange, arbitraryDeployment } from '@holdfast/testkit/arbitrary-deployment'
import { putAt } from '@holdfast/testkit/images/put-at'
import { inRun } from '@holdfast/testkit/long-run'
import type { ApiAnswer, ApiClient } from '@holdfast/testkit/platform/api-client'
import { dumpTenants } from '@holdfast/testkit/platform/dump-keys'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const RUNS = inRun(100, 5_000)
const COLLECTION = '/api/v1/deployments'

let platform: Platform
let api: ApiClient
beforeAll(async () => {
  platform = await ownPlatform({
    settings: { quotas: { deployments: 20_000, stored_bytes: 10_000_000_000 } },
  })
  api = platform.api(platform.acme.token)
  for (const name of ['db', 'cache']) {
    await create({ name, healthCheck: { type: 'exec', command: ['check'] } })
  }
})
afterAll(() => platform.stop())

interface Written {
  readonly deployment: DeploymentRecord
  readonly alterations: readonly Alteration[]
  readonly warnings: readonly { readonly code: string; readonly field: string; readonly why: string }[]
}

function written(answer: ApiAnswer): Written {
  if (answer.status !== 200 && answer.status !== 201) throw new Error(answer.text)
  return JSON.parse(answer.text)
}

const create = async (parts: JsonObject, path = COLLECTION) =>
  written(await api.post(path, { kind: 'Deployment', image: platform.image, ...parts }))

const read = async (name: string): Promise<DeploymentRecord> =>
  JSON.parse((await api.get(`${COLLECTION}/${name}`)).text)

const BESIDE_THE_SPEC: ReadonlySet<string> = new Set([
  'read_only_ignored',
  'image_digest_resolved',
  'residency_stored_as_label',
])

/** Computes the expected body from only the sent body, the stored fields and the reported alterations. */
function expected(sent: JsonObject, kept: JsonObject, alterations: readonly Alteration[]): JsonObject {
  const result: JsonObject = structuredClone({ ...kept, ...sent })
  for (const field of READ_ONLY_FIELDS) delete result[field]
  for (const field of Object.keys(result)) if (result[field] === null) delete result[field]
  for (const { code, field, to } of alterations)
    if (!BESIDE_THE_SPEC.has(code)) putAt(result, field.split('.'), to)
  return result
}

function specOf(record: DeploymentRecord): JsonObject {
  const spec: JsonObject = { ...record }
  for (const field of READ_ONLY_FIELDS) delete spec[field]
  return spec
}

/** The log lines of the request that has the given response. */
function logged(answer: ApiAnswer): { alterations?: unknown; warnings?: unknown } {
  const id = answer.headers.get('x-request-id') ?? '-'
  const lines = platform.logLines.filter((line) => line.includes(id)).map((line) => JSON.parse(line))
  return Object.assign({}, ...lines)
}

const options = () => ({ images: [platform.image], dependencies: ['db', 'cache'] })
const codesOf = (list: readonly { code: string }[]) => list.map(({ code }) => code)

test(`over ${RUNS} generated bodies the stored record is the sent body plus the reported alterations, and GET returns it`, {
  timeout: 600_000,
}, async () => {
  let serial = 0
  await fc.assert(
    fc.asyncProperty(arbitraryDeployment(options()), arbitraryChange(options()), async (body, change) => {
      serial += 1
      const name = `g${serial}`
      const sent: JsonObject = { ...body, name }
      const answer = await api.post(COLLECTION, sent)
      const created = written(answer)
      expect(answer.status).toBe(201)
      const stored = await read(name)
      expect(stored).toEqual(created.deployment)
      expect(specOf(stored)).toEqual(expected(sent, {}, created.alterations))
      expect(logged(answer)).toMatchObject({ alterations: created.alterations, warnings: created.warnings })

      const watched = serial % 20 === 0
      const before = watched ? await dumpTenants(platform) : {}
      const echoed = written(await api.put(`${COLLECTION}/${name}`, stored))
      expect(echoed.deployment).toEqual(stored)
      expect(echoed.alterations).toEqual([])
      if (watched) expect(await dumpTenants(platform)).toEqual(before)

      const changed = written(await api.put(`${COLLECTION}/${name}`, change))
      const next = await read(name)
      expect(next).toEqual(changed.deployment)
      expect(specOf(next)).toEqual(expected(change, specOf(stored), changed.alterations))
      const isSame = JSON.stringify(specOf(next)) === JSON.stringify(specOf(stored))
      if (isSame) expect(next.revision).toBe(1)
    }),
    { numRuns: RUNS },
  )
  expect((await api.get('/api/v1/quotas')).text).toContain(`{"kind":"deployments","used":${serial + 2}`)
})

describe('creating a deployment', () => {
  test('reports each default and the digest in the response and in the log', async () => {
    const answer = await api.post(COLLECTION, { kind: 'Deployment', name: 'bare', image: platform.image })
    const { alterations, warnings } = written(answer)
    const fields = alterations.map(({ code, field }) => `${code} ${field}`)
    expect(fields).toEqual([
      'default_applied replicas',
      'default_applied secrets',
      'default_applied secretsVersion',
      'default_applied resources',
      'default_applied update',
      'default_applied stopGracePeriod',
      'image_digest_resolved status.image.digest',
    ])
    for (const { from, why } of alterations) {
      expect(from).toBeNull()
      expect(why).toMatch(/\.$/)
    }
    expect(warnings).toEqual([])
    expect(logged(answer)).toMatchObject({ alterations, deployment: 'bare' })
  })

  test('stores secretsVersion 0 for any sent value and reports the change', async () => {
    const { deployment, alterations } = await create({ name: 'versioned', secretsVersion: 7 })
    expect(deployment.secretsVersion).toBe(0)
    expect(alterations).toContainEqual(
      expect.objectContaining({ code: 'secrets_version_kept', field: 'secretsVersion', from: 7, to: 0 }),
    )
  })

  test('quotes a number of any size exactly', async () => {
    const sent = `{"kind":"Deployment","name":"huge","image":"${platform.image}","secretsVersion":${'9'.repeat(30)}}`
    const answer = await api.post(COLLECTION, sent, { 'idempotency-key': 'huge' })
    expect(answer.status, answer.text).toBe(201)
    expect(answer.text).toContain('"code":"secrets_version_kept"')
    expect((await api.post(COLLECTION, sent, { 'idempotency-key': 'huge' })).text).toBe(answer.text)
    const changed = await api.put(
      `${COLLECTION}/huge`,
      `{"revision":${'9'.repeat(30)},"secretsVersion":${'9'.repeat(30)}}`,
    )
    expect(changed.status, changed.text).toBe(200)
  })

  test('accepts a health check that cannot fail, with a warning', async () => {
    const { warnings } = await create({ name: 'trivial', healthCheck: { type: 'exec', command: ['exit 0'] } })
    expect(warnings).toEqual([
      { code: 'health_check_trivial', field: 'healthCheck.command', why: expect.any(String) },
    ])
  })
})

describe('updating a deployment', () => {
  const path = `${COLLECTION}/kept`
  beforeAll(async () => {
    await create({
      name: 'kept',
      replicas: 3,
      environment: { LOG: 'info', ZONE: 'a' },
      healthCheck: { type: 'exec', command: ['check'], retries: 5, timeout: '20s' },
      dependsOn: { db: 'healthy', cache: 'started' },
      placement: { spread: 'zone', affinity: ['db'] },
    })
  })

  test('keeps fields that were not sent and replaces those that were, placement and healthCheck as a whole', async () => {
    const before = await read('kept')
    const healthCheck = { type: 'exec', command: ['other'] }
    const { deployment, alterations } = written(
      await api.put(path, { environment: { LOG: 'debug' }, placement: { spread: 'rack' }, healthCheck }),
    )
    expect(deployment.environment).toEqual({ LOG: 'debug' })
    expect(deployment.placement).toEqual({ spread: 'rack' })
    expect(deployment.healthCheck).toEqual({ ...healthCheck, interval: '30s', startPeriod: '0s' })
    expect(alterations.map(({ field }) => field)).toEqual(['healthCheck.interval', 'healthCheck.startPeriod'])
    expect(deployment).toMatchObject({
      replicas: 3,
      dependsOn: before.dependsOn,
      revision: before.revision + 1,
    })
    expect(deployment.uid).toBe(before.uid)
    expect(deployment.createdAt).toBe(before.createdAt)
  })

  test('clears an optional field with null and reports its default', async () => {
    const { deployment, alterations } = written(await api.put(path, { replicas: null, environment: null }))
    expect(deployment.replicas).toBe(1)
    expect('environment' in deployment).toBe(false)
    expect(alterations).toEqual([
      { code: 'default_applied', field: 'replicas', from: null, to: 1, why: expect.any(String) },
    ])
  })

  test('keeps secretsVersion with or without null, and rejects a negative one', async () => {
    for (const secretsVersion of [5, null]) {
      const { deployment, alterations } = written(await api.put(path, { secretsVersion }))
      expect(deployment.secretsVersion).toBe(0)
      expect(codesOf(alterations)).toEqual(['secrets_version_kept'])
    }
    expect(written(await api.put(path, { secretsVersion: 0 })).alterations).toEqual([])
    expect((await api.put(path, { secretsVersion: -1 })).codes).toEqual(['secrets_version_negative'])
  })

  test('ignores read-only fields that a client sends back, and rejects another uid', async () => {
    const before = await read('kept')
    const stale = { revision: 99, specHash: 'x', createdAt: 'then', status: {}, residencyLabels: { a: 'b' } }
    const answer = await api.put(path, { ...before, ...stale })
    const { deployment, alterations } = written(answer)
    expect(deployment).toEqual(before)
    expect(alterations.map(({ code, field }) => `${code} ${field}`)).toEqual(
      ['revision', 'specHash', 'createdAt', 'status', 'residencyLabels'].map(
        (name) => `read_only_ignored ${name}`,
      ),
    )
    expect(logged(answer)).toMatchObject({ alterations })
    const foreign = (await read('db')).uid
    expect((await api.put(path, { ...before, uid: foreign })).codes).toEqual(['field_read_only'])
    expect((await api.put(path, { uid: before.uid, name: 'kept' })).status).toBe(200)
  })

  test('replaces a list that loses an entry, and reports each lost entry', async () => {
    const { deployment, warnings } = written(await api.put(path, { dependsOn: { cache: 'started' } }))
    expect(deployment.dependsOn).toEqual({ cache: 'started' })
    expect(warnings).toEqual([
      { code: 'list_shortened', field: 'dependsOn', why: expect.stringContaining('db') },
    ])
    const cleared = written(await api.put(path, { dependsOn: null }))
    expect(cleared.warnings).toEqual([
      { code: 'list_shortened', field: 'dependsOn', why: expect.stringContaining('cache') },
    ])
  })

  test('resolves the digest again only when the image text changes', async () => {
    const before = await read('kept')
    const same = written(await api.put(path, { image: platform.image }))
    expect(same.alterations).toEqual([])
    expect(same.deployment.revision).toBe(before.revision)
    const pinned = `${platform.image.split(':').slice(0, -1).join(':')}@${before.status.image.digest}`
    const changed = written(await api.put(path, { image: pinned }))
    expect(changed.deployment.status.image).toEqual({ reference: pinned, digest: before.status.image.digest })
    expect(changed.alterations).toEqual([])
  })
})

describe('a dry run', () => {
  test('validates everything, returns a plan and stores nothing', async () => {
    const before = await dumpTenants(platform)
    const created = await api.post(`${COLLECTION}?dryRun=true`, {
      kind: 'Deployment',
      name: 'planned',
      image: platform.image,
    })
    expect(created.status).toBe(200)
    expect(created.headers.get('etag')).toBeNull()
    expect(Object.keys(created.body)).toEqual(['alterations', 'warnings', 'plan'])
    expect(created.body['plan']).toMatchObject({ action: 'create', revision: 1, changes: [] })
    const { revision, replicas } = await read('kept')
    const changed = await api.put(`${COLLECTION}/kept?dryRun=true`, { replicas: replicas + 1 })
    expect(changed.body['plan']).toMatchObject({
      action: 'update',
      revision: revision + 1,
      changes: [{ field: 'replicas', from: replicas, to: replicas + 1 }],
    })
    const same = await api.put(`${COLLECTION}/kept?dryRun=true`, { replicas })
    expect(same.body['plan']).toMatchObject({ action: 'none', revision, changes: [] })
    expect(await dumpTenants(platform)).toEqual(before)
  })

  test('returns the same rejections as a real write, those that depend on other records included', async () => {
    const before = await dumpTenants(platform)
    const sent = {
      kind: 'Deployment',
      name: 'kept',
      image: platform.image,
      dependsOn: { missing: 'started' },
    }
    const answer = await api.post(`${COLLECTION}?dryRun=true`, sent)
    expect(answer.codes).toEqual(['deployment_exists', 'dependency_not_found'])
    expect(answer.status).toBe(409)
    const stale = await api.put(`${COLLECTION}/kept?dryRun=true`, { replicas: 9 }, { 'if-match': '"1"' })
    expect(stale.codes).toEqual(['revision_conflict'])
    expect(await dumpTenants(platform)).toEqual(before)
  })

  test('does not consume its Idempotency-Key', async () => {
    const sent = { kind: 'Deployment', name: 'tried', image: platform.image }
    const key = { 'idempotency-key': 'try' }
    expect((await api.post(`${COLLECTION}?dryRun=true`, sent, key)).status).toBe(200)
    expect((await api.post(COLLECTION, sent, key)).status).toBe(201)
  })
})

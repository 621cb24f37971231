// The check of images against real registries, and the registry credentials of a tenant.

import { freePort, type Registry, startRegistry } from '@holdfast/testkit'
import type { ApiAnswer, ApiClient } from '@holdfast/testkit/platform/api-client'
import { dumpKeys } from '@holdfast/testkit/platform/dump-keys'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const COLLECTION = '/api/v1/deployments'
const ACCOUNT = { username: 'puller', password: 'correct horse battery' }

let platform: Platform
let api: ApiClient
let open: Registry
let guarded: Registry
let down: string
let serial = 0

beforeAll(async () => {
  const started = await Promise.all([startRegistry(), startRegistry({ htpasswd: ACCOUNT }), freePort()])
  open = started[0]
  guarded = started[1]
  down = `127.0.0.1:${started[2]}`
  const registries = [open.host, guarded.host, down].map((host) => ({
    host,
    plainHttp: true,
    allowAddress: true,
  }))
  platform = await ownPlatform({ registry: open, settings: { registries } })
  api = platform.api(platform.acme.token)
})
afterAll(async () => {
  await platform.stop()
  await Promise.all([open.stop(), guarded.stop()])
})

/** Creates a deployment of the image, under a new name each time. */
function create(image: string, headers = {}): Promise<ApiAnswer> {
  serial += 1
  return api.post(COLLECTION, { kind: 'Deployment', name: `r${serial}`, image }, headers)
}

const imageOf = ({ body }: ApiAnswer) => Object(Object(body['deployment'])['status'])['image']
const credentialPath = (host: string) => `/api/v1/registries/${host}/credential`

function expectUnreachable(answer: ApiAnswer, image: string, cause: RegExp) {
  expect(answer.status, answer.text).toBe(201)
  expect(answer.body['warnings']).toEqual([
    { code: 'registry_unreachable', field: 'image', why: expect.stringMatching(cause) },
  ])
  expect(imageOf(answer)).toEqual({ reference: image, digest: null })
  expect(answer.text).not.toContain('image_digest_resolved')
}

async function storyOf({ body }: ApiAnswer) {
  const { name } = Object(body['deployment'])
  const { body: status } = await api.get(`${COLLECTION}/${name}/status`)
  return Array.from<{ type: string; reason: string; message: string }>(Object(status['timeline']))
}

describe('the image check', () => {
  test('pins an existing tag to its digest and reports it', async () => {
    const { reference, digest } = await open.pushSampleImage('shop/web', '1.0')
    const answer = await create(reference)
    expect(answer.status).toBe(201)
    expect(imageOf(answer)).toEqual({ reference, digest })
    expect(answer.body['alterations']).toContainEqual(
      expect.objectContaining({ code: 'image_digest_resolved', from: null, to: digest }),
    )
  })

  test('leaves an existing digest unchanged', async () => {
    const { digest } = await open.pushSampleImage('shop/web', '1.0')
    const reference = `${open.host}/shop/web@${digest}`
    const answer = await create(reference)
    expect(imageOf(answer)).toEqual({ reference, digest })
    expect(answer.text).not.toContain('image_digest_resolved')
  })

  test('rejects a missing tag, digest or repository, and accepts it once the image is pushed', async () => {
    const { digest } = await open.pushSampleImage('shop/web', '1.0')
    const unknown = digest.replaceAll(/[0-9a-f]{8}$/g, '00000000')
    for (const reference of ['shop/web:9.9', `shop/web@${unknown}`, 'shop/nothing:1.0']) {
      expect((await create(`${open.host}/${reference}`)).codes).toEqual(['image_not_found'])
    }
    await open.pushSampleImage('shop/web', '9.9')
    await expect.poll(async () => (await create(`${open.host}/shop/web:9.9`)).status).toBe(201)
  })

  test('keeps the digest when the tag moves, until the image text changes', async () => {
    const { reference, digest } = await open.pushSampleImage('shop/moving', '1.0')
    const name = Object((await create(reference)).body['deployment'])['name']
    await open.moveTag('shop/moving', '1.0')
    const same = await api.put(`${COLLECTION}/${name}`, { image: reference, replicas: 2 })
    expect(imageOf(same)).toEqual({ reference, digest })
  })

  test('accepts the deployment with a warning while the registry is down', async () => {
    const image = `${down}/shop/web:1.0`
    const answer = await create(image)
    expectUnreachable(answer, image, /could not be queried: /)
    // The deployment's timeline has the creation first, then an event that explains why the deployment waits.
    const [first, second] = (await storyOf(answer)).toReversed()
    expect(first).toMatchObject({ type: 'deployment.created' })
    expect(second).toMatchObject({
      type: 'image.unreachable',
      severity: 'warning',
      reason: 'registry_unreachable',
      message: expect.stringContaining('could not be queried: '),
      data: { image, revision: 1 },
    })
  })

  test('accepts the deployment with a warning while the registry hangs', async () => {
    const hanging = await startRegistry()
    const registries = [{ host: hanging.host, plainHttp: true, allowAddress: true }]
    const other = await ownPlatform({ registry: hanging, settings: { registries } })
    hanging.pause()
    const image = `${hanging.host}/shop/web:1.0`
    const sent = { kind: 'Deployment', name: 'web', image }
    const answer = await other.api(other.acme.token).post(COLLECTION, sent)
    // The registry hangs until the deployment is accepted, so only the deadline of the image check can have ended the check.
    expectUnreachable(answer, image, /time/)
    hanging.resume()
    await hanging.pushSampleImage('shop/web', '1.0')
    // The cached result "unreachable" expires after ten seconds; then the first successful check pins the digest.
    await expect
      .poll(
        async () => imageOf(await other.api(other.acme.token).put(`${COLLECTION}/web`, { image })).digest,
        {
          timeout: 30_000,
          interval: 500,
        },
      )
      .toMatch(/^sha256:/)
    await other.stop()
    await hanging.stop()
  })

  test('sends no request for a PUT without image, and one for a PUT with the same image', async () => {
    const image = `${down}/shop/kept:1.0`
    const name = Object((await create(image)).body['deployment'])['name']
    expect((await api.put(`${COLLECTION}/${name}`, { replicas: 2 })).body['warnings']).toEqual([])
    const again = await api.put(`${COLLECTION}/${name}`, { image })
    expect(again.text).toContain('registry_unreachable')
  })

  test('never contacts a registry that is not listed', async () => {
    const unlisted = await startRegistry()
    const { reference } = await unlisted.pushSampleImage('shop/web', '1.0')
    expect((await create(reference)).codes).toEqual(['registry_not_allowed'])
    await unlisted.stop()
  })
})

describe('registry credentials', () => {
  test('turn a 401 warning into a pinned image, and wrong ones leave the warning', async () => {
    const { reference, digest } = await guarded.pushSampleImage('inner/app', '1.0')
    expectUnreachable(await create(reference), reference, /./)
    const path = credentialPath(guarded.host)
    expect((await api.put(path, { ...ACCOUNT, password: 'wrong' })).status).toBe(200)
    expectUnreachable(await create(reference), reference, /./)
    const stored = await api.put(path, ACCOUNT)
    expect(stored.body).toEqual({
      ...{ host: guarded.host, credential: true },
      ...{ updatedAt: expect.any(String), revision: expect.any(Number) },
    })
    const found = await create(reference)
    expect(imageOf(found)).toEqual({ reference, digest })
    expect((await create(`${guarded.host}/inner/nothing:1.0`)).codes).toEqual(['image_not_found'])
  })

  test('belong to their tenant', async () => {
    const { reference } = await guarded.pushSampleImage('inner/app', '1.0')
    await api.put(credentialPath(guarded.host), ACCOUNT)
    const globex = platform.api(platform.globex.token)
    expect((await globex.get('/api/v1/registries')).text).not.toContain('"credential":true')
    const answer = await globex.post(COLLECTION, { kind: 'Deployment', name: 'web', image: reference })
    expectUnreachable(answer, reference, /./)
  })

  test('are listed by host, and are no longer used once removed', async () => {
    await api.put(credentialPath(guarded.host), ACCOUNT)
    const { body } = await api.get('/api/v1/registries')
    const hosts: { host: string; credential: boolean }[] = Object(body['items'])
    expect(hosts.map(({ host }) => host)).toEqual([open.host, guarded.host, down].sort())
    expect(hosts.filter(({ credential }) => credential).map(({ host }) => host)).toEqual([guarded.host])
    expect((await api.delete(credentialPath(guarded.host))).status).toBe(202)
    expect((await api.delete(credentialPath(guarded.host))).codes).toEqual(['not_found'])
    const { reference } = await guarded.pushSampleImage('inner/other', '1.0')
    expectUnreachable(await create(reference), reference, /./)
  })

  test('compare If-Match with their revision, and a conflict stores nothing', async () => {
    const path = credentialPath(down)
    const ifMatch = (etag: string) => ({ 'if-match': etag })
    const listed = async () => {
      const items: { host: string; revision?: number }[] = Object(
        (await api.get('/api/v1/registries')).body['items'],
      )
      return items.find(({ host }) => host === down)?.revision
    }
    expect((await api.put(path, ACCOUNT, ifMatch('"1"'))).codes).toEqual(['revision_conflict'])
    expect(await listed()).toBeUndefined()
    const first = await api.put(path, ACCOUNT, ifMatch('"0"'))
    expect([first.status, first.headers.get('etag')]).toEqual([200, `"${await listed()}"`])
    const etag = first.headers.get('etag') ?? ''
    const second = await api.put(path, ACCOUNT, ifMatch(etag))
    expect(second.status).toBe(200)
    const stale = await api.put(path, ACCOUNT, ifMatch(etag))
    expect([stale.status, stale.body['expected']]).toEqual([
      412,
      expect.stringContaining(`"${await listed()}"`),
    ])
    expect((await api.delete(path, ifMatch(etag))).codes).toEqual(['revision_conflict'])
    expect((await api.delete(path, ifMatch(second.headers.get('etag') ?? ''))).status).toBe(202)
  })

  test('are in no response, log line or key', async () => {
    const answer = await api.put(credentialPath(guarded.host), ACCOUNT)
    const keys = await dumpKeys(platform.config.etcd.endpoints[0] ?? '', `${platform.root}/`)
    const everything = [answer.text, JSON.stringify(keys), ...platform.logLines].join('\n')
    expect(everything).not.toContain(ACCOUNT.password)
    expect(everything).not.toContain(Buffer.from(ACCOUNT.password).toString('base64').slice(0, -4))
  })

  test('that are written concurrently end as one of those sent, and it works', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => api.put(credentialPath(guarded.host), ACCOUNT)),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    const { reference, digest } = await guarded.pushSampleImage('inner/last', '1.0')
    expect(imageOf(await create(reference))).toEqual({ reference, digest })
  })

  test('that are written and removed concurrently never end as a record without material', async () => {
    const path = credentialPath(guarded.host)
    for (let round = 0; round < 6; round += 1) {
      const answers = await Promise.all(
        Array.from({ length: 6 }, (_, index) =>
          index % 2 === 0 ? api.put(path, ACCOUNT) : api.delete(path),
        ),
      )
      for (const { status } of answers) expect([200, 202, 404]).toContain(status)
      const { reference } = await guarded.pushSampleImage(`inner/round-${round}`, '1.0')
      const after = await create(reference)
      expect(after.codes).toEqual([])
    }
  })
})

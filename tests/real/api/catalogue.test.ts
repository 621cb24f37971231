// The catalogue of error codes and the product agree: each code has a rule or a named owner, and each rule a code. Every
// code that a request can cause is received over HTTP with a complete rejection and a reference page, and nothing is
// stored.

import { CODES, type Code, codesIn, entryOf } from '@holdfast/contract'
import { exampleOf } from '@holdfast/contract/examples'
import { CROSS_RULES, FIELD_RULES } from '@holdfast/core'
import { sharedSecretsStore, startEtcd, startRegistry, startSecretsStore } from '@holdfast/testkit'
import { NODE_PROVOCATIONS } from '@holdfast/testkit/nodes/node-provocations'
import { storeReadyVolume } from '@holdfast/testkit/nodes/ready-volume'
import type { ApiAnswer } from '@holdfast/testkit/platform/api-client'
import { dumpTenants } from '@holdfast/testkit/platform/dump-keys'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import { type Platform, startPlatform } from '@holdfast/testkit/platform/start-platform'
import { BODY_PROVOCATIONS } from '@holdfast/testkit/provocations/body-provocations'
import { BUILT } from '@holdfast/testkit/provocations/built-capabilities'
import { JOB_CODES, startJobWorld } from '@holdfast/testkit/provocations/job-world'
import { NETWORK_CODES, startNetworkWorld } from '@holdfast/testkit/provocations/network-world'
import { type Provocation, prepareWorld, provoke, type World } from '@holdfast/testkit/provocations/provoke'
import { gatherRaisedCodes } from '@holdfast/testkit/provocations/raised-codes'
import { startRecommendationWorld } from '@holdfast/testkit/provocations/recommendation-world'
import { REQUEST_PROVOCATIONS } from '@holdfast/testkit/provocations/request-provocations'
import {
  asExample,
  prepareExamples,
  sendExample,
  sendExampleAsAdmin,
} from '@holdfast/testkit/provocations/run-examples'
import { startVolumeWorld, VOLUME_CODES } from '@holdfast/testkit/provocations/volume-world'
import { prepareSecrets, SECRET_PROVOCATIONS } from '@holdfast/testkit/secrets/secret-provocations'
import { createStoreEye } from '@holdfast/testkit/secrets/store-eye'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/** Codes of server errors that no request can cause; tests/real/secrets/deployments.test.ts causes them on purpose. */
const INVARIANTS: readonly Code[] = ['secret_material_would_persist', 'secret_generate_would_persist']
const PROVOCATIONS = [
  ...[...BODY_PROVOCATIONS, ...REQUEST_PROVOCATIONS],
  ...[...NODE_PROVOCATIONS, ...SECRET_PROVOCATIONS],
]

/** The first one measures and deletes its volume; the measurement of a list would come too early. */
const RECOMMENDATION_CODES: readonly Code[] = [
  'dvm_recommendation_volume_missing',
  ...CODES.filter(
    (code) => entryOf(code).capability === 'recommendations' && code !== 'dvm_recommendation_volume_missing',
  ),
]

const received = new Set<string>()
const pages = new Set<string>()
/** Codes whose examples were sent, with the expected outcome. */
const shown = new Set<Code>()
let world: World

beforeAll(async () => {
  world = await prepareWorld(await ownPlatform())
  await prepareSecrets(world)
})
afterAll(() => world.platform.stop())

/** Checks the properties that a rejection with any code must have. */
async function expectRefusal(
  answer: ApiAnswer,
  code: Code,
  field: string,
  { codes = [code], alternative = false }: Pick<Provocation, 'codes' | 'alternative'> = {},
) {
  expect(answer.codes, answer.text).toEqual(codes)
  const { status, alternativeStatus } = entryOf(code)
  expect(answer.status).toBe(alternative ? alternativeStatus?.status : status)
  const { rejections, ...first } = answer.body
  expect(rejections).toHaveLength(codes.length)
  expect(first).toEqual(Object(rejections)[0])
  expect(first).toMatchObject({ code, field })
  expect(Object.keys(first).sort()).toEqual(['code', 'doc', 'expected', 'field', 'received', 'why'])
  for (const each of Object.values(Object(rejections))) await expectRecord(Object(each))
}

async function expectRecord(rejection: { [name: string]: unknown }) {
  for (const part of ['expected', 'why']) {
    expect(rejection[part]).toMatch(/.../)
    expect(rejection[part], 'no placeholder is left').not.toMatch(/\{[a-z]\w*\}/i)
  }
  expect(typeof rejection['received']).toBe('string')
  const { code, doc } = rejection
  received.add(String(code))
  if (pages.has(String(doc))) return
  const page = await fetch(String(doc))
  expect(page.status).toBe(200)
  expect(page.headers.get('content-type')).toContain('text/html')
  expect(await page.text()).toContain(`<h1><code>${String(code).replaceAll('_', '_<wbr>')}</code></h1>`)
  pages.add(String(doc))
}

/** Checks that no record, event, audit entry or saved response was written: etcd has the same keys and revisions. */
async function expectNothingStored(platform: Platform, work: () => Promise<void>): Promise<void> {
  const before = await dumpTenants(platform)
  expect(Object.keys(before).length).toBeGreaterThan(0)
  await work()
  expect(await dumpTenants(platform)).toEqual(before)
}

/** Every version number that the secrets store ever assigned to a path of acme, destroyed versions included. */
async function storedVersions({ acme }: Platform) {
  return createStoreEye({ ...(await sharedSecretsStore()), tenant: acme.id }).everything()
}

const title = ({ code, field }: Provocation, index: number) => [index, code, field] as const

test.each(PROVOCATIONS.map(title))('provocation %i is rejected with %s at %s', async (index) => {
  const provocation = PROVOCATIONS[index]
  if (provocation === undefined) throw new Error('no such row')
  const { platform } = world
  const versions = await storedVersions(platform)
  await expectNothingStored(platform, async () => {
    const answer = await provoke(world, provocation.sent(world))
    await expectRefusal(answer, provocation.code, provocation.field, provocation)
  })
  expect(await storedVersions(platform)).toEqual(versions)
})

test('quota_exceeded is returned at quotas.stored_bytes', async () => {
  const { platform } = world
  const { body } = await platform.api().post('/api/v1/tenants', { name: 'crowded' })
  const tenant = { 'x-tenant-id': String(body['id']) }
  await platform.api().send('PATCH', `/api/v1/tenants/${body['id']}`, { quotas: { stored_bytes: 3000 } })
  const sent = { kind: 'Deployment', name: 'wordy', image: platform.image, args: ['x'.repeat(2000)] }
  await expectNothingStored(platform, async () => {
    const answer = await platform.api().post('/api/v1/deployments', sent, tenant)
    await expectRefusal(answer, 'quota_exceeded', 'quotas.stored_bytes')
  })
})

test('rate_limited is returned with the time to wait', async () => {
  // The rate limit allows one more request every ten seconds, so that a short pause of the machine changes nothing.
  const platform = await ownPlatform({ settings: { rates: { requestsPerMinute: 6, burst: 10 } } })
  const api = platform.api(platform.acme.token)
  const answers = await Promise.all(Array.from({ length: 12 }, () => api.get('/api/v1/deployments')))
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array(10).fill(200), 429, 429])
  await expectNothingStored(platform, async () => {
    const answer = await sendFailing(platform, 'rate_limited')
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  })
  const other = await platform.api(platform.globex.token).get('/api/v1/deployments')
  expect(other.status).toBe(200)
  await platform.stop()
})

test('anchored_secret_dropped and anchored_secret_repointed are returned when volumes are enabled', async () => {
  const platform = await ownPlatform({ settings: { volumes: { enabled: true } } })
  const api = platform.api(platform.acme.token)
  const volume = 'vol_01JD0000000000000000000000'
  await storeReadyVolume(platform, platform.acme.id, volume)
  const secret = {
    name: 'DB',
    vault_path: 'resources/db',
    anchor: `volume(${volume})`,
    values: { password: 'another one' },
  }
  const created = await api.post('/api/v1/deployments', {
    kind: 'Deployment',
    name: 'shop',
    image: platform.image,
    replicas: 0,
    secrets: [secret],
    volumes: [{ volume, target: '/data', type: 'volume', readOnly: false }],
  })
  expect(created.status, created.text).toBe(201)
  const versions = await storedVersions(platform)
  await expectNothingStored(platform, async () => {
    for (const code of ['anchored_secret_dropped', 'anchored_secret_repointed'] as const) {
      await sendFailing(platform, code)
      const passes = exampleOf(code)?.passes
      if (passes === undefined) throw new Error('the example has no second request')
      const path = `${passes.path}?dryRun=true`
      expect((await sendExampleAsAdmin(platform, { ...passes, path })).status).toBe(200)
    }
  })
  expect(await storedVersions(platform)).toEqual(versions)
  await platform.stop()
})

test('the codes of volumes are returned when volumes are enabled', async () => {
  const volumes = await startVolumeWorld()
  const { platform, send, asExample: asShown } = volumes
  await expectNothingStored(platform, async () => {
    for (const code of VOLUME_CODES) {
      const { fails, passes, field } = exampleOf(code) ?? {}
      if (fails === undefined || field === undefined) throw new Error(`no example of ${code}`)
      const answer = await send(fails)
      await expectRefusal(answer, code, field, { alternative: code === 'volume_not_found' })
      const page = await (await fetch(`${platform.baseUrl}/docs/errors/${code}`)).text()
      for (const part of ['expected', 'why'])
        expect(page).toContain(escapeHtml(asShown(String(answer.body[part]))))
      if (passes === undefined) continue
      const path = passes.method === 'GET' ? passes.path : `${passes.path}?dryRun=true`
      expect((await send({ ...passes, path })).status).toBe(200)
    }
  })
  for (const code of VOLUME_CODES) shown.add(code)
  await platform.stop()
})

test('the codes of networks are returned, and nothing is stored', async () => {
  const { platform, send, asExample: asShown, enroll } = await startNetworkWorld()
  for (const code of NETWORK_CODES) {
    const { fails, passes, field } = exampleOf(code) ?? {}
    if (fails === undefined || field === undefined) throw new Error(`no example of ${code}`)
    await expectNothingStored(platform, async () => {
      const answer = await send(fails)
      await expectRefusal(answer, code, field, { alternative: code === 'network_not_found' })
      const page = await (await fetch(`${platform.baseUrl}/docs/errors/${code}`)).text()
      for (const part of ['expected', 'why'])
        expect(page).toContain(escapeHtml(asShown(String(answer.body[part]))))
      if (passes === undefined) return
      const path = passes.method === 'GET' ? passes.path : `${passes.path}?dryRun=true`
      const accepted = await send({ ...passes, path })
      expect(accepted.status, accepted.text).toBe(200)
    })
    // The first code is that of a tenant without nodes.
    if (code === NETWORK_CODES[0]) await enroll()
    shown.add(code)
  }
  await platform.stop()
})

test('the codes of jobs are returned, and nothing is stored', async () => {
  const { platform, connect, send, asExample: asShown, stop } = await startJobWorld()
  const job = { kind: 'Job', name: 'migrate', image: platform.image }
  await expectNothingStored(platform, async () => {
    const answer = await platform.api(platform.acme.token).post('/api/v1/jobs', job)
    await expectRefusal(answer, 'job_node_candidates_unresolvable', 'nodeId')
  })
  await connect()
  for (const code of JOB_CODES) {
    const { fails, passes, field } = exampleOf(code) ?? {}
    if (fails === undefined || passes === undefined || field === undefined)
      throw new Error(`no example of ${code}`)
    await expectNothingStored(platform, async () => {
      const answer = await send(fails)
      await expectRefusal(answer, code, field)
      const page = await (await fetch(`${platform.baseUrl}/docs/errors/${code}`)).text()
      for (const part of ['expected', 'why'])
        expect(page).toContain(escapeHtml(asShown(String(answer.body[part]))))
      const path = passes.method === 'GET' ? passes.path : `${passes.path}?dryRun=true`
      const accepted = await send({ ...passes, path })
      expect(accepted.status, accepted.text).toBe(200)
    })
    shown.add(code)
  }
  await stop()
})

test('the codes of recommendations are returned when volumes are enabled', async () => {
  const advised = await startRecommendationWorld()
  const { platform, send, asExample: asShown, onDeleted } = advised
  let before = await dumpTenants(platform)
  // This example deletes its volume. The state after the deletion is the one that must not change.
  onDeleted(async () => {
    before = await dumpTenants(platform)
  })
  for (const code of RECOMMENDATION_CODES) {
    const { fails, passes, field } = exampleOf(code) ?? {}
    if (fails === undefined || field === undefined) throw new Error(`no example of ${code}`)
    const answer = await send(fails)
    await expectRefusal(answer, code, field)
    const page = await (await fetch(`${platform.baseUrl}/docs/errors/${code}`)).text()
    for (const part of ['expected', 'why'])
      expect(page).toContain(escapeHtml(asShown(String(answer.body[part]))))
    if (passes !== undefined) {
      const path = passes.method === 'GET' ? passes.path : `${passes.path}?dryRun=true`
      const accepted = await send({ ...passes, path })
      expect(accepted.status, accepted.text).toBe(200)
    }
    expect(await dumpTenants(platform), code).toEqual(before)
    shown.add(code)
  }
  await advised.stop()
})

describe('while a store is unavailable', () => {
  test('store_unavailable is returned when etcd is killed during a write or paused during a read', {
    timeout: 120_000,
  }, async () => {
    const etcd = await startEtcd()
    const [member] = etcd.members
    if (member === undefined) throw new Error('no member')
    const platform = await startPlatform({ endpoints: etcd.endpoints })
    const api = platform.api(platform.acme.token)
    await expectNothingStored(platform, async () => {
      await member.kill()
      const sent = { kind: 'Deployment', name: 'web', image: platform.image }
      await sendFailing(platform, 'store_unavailable')
      const named = { ...sent, nodeId: 'node_01JD0000000000000000000000' }
      await expectRefusal(
        await api.post('/api/v1/deployments', named),
        'node_candidates_unresolvable',
        'nodeId',
        { alternative: true },
      )
      await expectRefusal(
        await api.post('/api/v1/networks', { name: 'backend' }),
        'network_node_candidates_unresolvable',
        'nodeId',
        { alternative: true },
      )
      await expectRefusal(
        await api.post('/api/v1/jobs', { ...sent, kind: 'Job' }),
        'job_node_candidates_unresolvable',
        'nodeId',
        { alternative: true },
      )
      await member.restart()
    })
    member.pause()
    await expectRefusal(await api.get('/api/v1/deployments'), 'store_unavailable', 'store')
    member.resume()
    await expect
      .poll(async () => (await api.get('/api/v1/deployments')).status, { timeout: 30_000 })
      .toBe(200)
    await platform.stop()
    await etcd.stop()
  })

  test('secrets_store_unavailable and registry_credential_store_unavailable are returned while the secrets store is sealed', async () => {
    const [secretsStore, registry] = await Promise.all([
      startSecretsStore(),
      startRegistry({ htpasswd: { username: 'puller', password: 'correct horse' } }),
    ])
    const platform = await ownPlatform({ secretsStore, registry })
    const api = platform.api(platform.acme.token)
    const path = `/api/v1/registries/${registry.host}/credential`
    const credential = { username: 'puller', password: 'correct horse' }
    expect((await api.put(path, credential)).status).toBe(200)
    await secretsStore.seal()
    const sent = { kind: 'Deployment', name: 'web', image: platform.image }
    await expectNothingStored(platform, async () => {
      await sendFailing(platform, 'secrets_store_unavailable')
      const tenant = await platform.api().post('/api/v1/tenants', { name: 'late' })
      await expectRefusal(tenant, 'secrets_store_unavailable', 'secretsStore')
      await sendFailing(platform, 'registry_credential_store_unavailable')
    })
    await secretsStore.unseal()
    expect((await api.post('/api/v1/deployments', sent)).status).toBe(201)
    await platform.stop()
    await Promise.all([secretsStore.stop(), registry.stop()])
  })
})

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** Sends the failing example of a code that needs a platform in a special state. */
async function sendFailing(platform: Platform, code: Code): Promise<ApiAnswer> {
  const example = exampleOf(code)
  if (example === undefined) throw new Error(`no example of ${code}`)
  const answer = await sendExampleAsAdmin(platform, example.fails)
  await expectRefusal(answer, code, example.field)
  shown.add(code)
  return answer
}

describe('the examples of the reference pages', () => {
  const APART: readonly Code[] = [
    ...VOLUME_CODES,
    ...NETWORK_CODES,
    ...JOB_CODES,
    ...RECOMMENDATION_CODES,
    'rate_limited',
    'anchored_secret_dropped',
    'anchored_secret_repointed',
    'store_unavailable',
    'secrets_store_unavailable',
    'registry_credential_store_unavailable',
  ]
  const EXAMPLES = CODES.filter((code) => !APART.includes(code)).flatMap((code) => {
    const example = exampleOf(code)
    return example === undefined ? [] : [{ code, example }]
  })

  beforeAll(() => prepareExamples(world))

  test.each(EXAMPLES)(
    'are right for $code: one is rejected with it, the other is accepted',
    async ({ code, example: { fails, passes, field } }) => {
      const rejected = await sendExample(world, fails, { dryRun: false })
      // While volumes are disabled, a manifest that mounts one is rejected for that reason, too.
      const codes = rejected.codes.filter((each) => each === code || each !== 'volume_binding_unavailable')
      expect([codes, rejected.body['field']], rejected.text).toEqual([[code], field])
      const page = await (await fetch(`${world.platform.baseUrl}/docs/errors/${code}`)).text()
      for (const part of ['expected', 'why'])
        expect(page).toContain(escapeHtml(asExample(world.platform, String(rejected.body[part]))))
      const accepted = passes === undefined ? undefined : await sendExample(world, passes, { dryRun: true })
      expect(accepted?.status ?? 200, accepted?.text).toBeLessThan(300)
      shown.add(code)
    },
  )
})

describe('the catalogue and the rules', () => {
  const raised = gatherRaisedCodes()

  test('every code has a rule or a planned owner', () => {
    expect(CODES).toHaveLength(83 + 55)
    expect(CODES.filter((code) => !raised.has(code) && BUILT.includes(entryOf(code).capability))).toEqual([])
  })

  test('every rule raises a code of the catalogue', () => {
    for (const { code } of [...FIELD_RULES, ...CROSS_RULES]) expect(CODES).toContain(code)
    expect(raised.size).toBeGreaterThan(50)
  })

  test('every code that can be raised was received over HTTP', () => {
    const wanted = CODES.filter((code) => raised.has(code) && !INVARIANTS.includes(code))
    expect(wanted.filter((code) => !received.has(code))).toEqual([])
    const toCome = CODES.filter((code) => !raised.has(code)).length
    const manifests = codesIn(
      ...(['deployment', 'healthCheck', 'secretSources', 'secretEntries', 'placement', 'volumes'] as const),
    )
    const known = manifests.filter((code) => received.has(code))
    console.log(
      `${received.size} codes received, ${toCome} owned by parts to come, ${INVARIANTS.length} invariants;`,
      `${known.length} received of the ${manifests.length} codes of deployments, placement and volumes`,
    )
  })

  test('every code that was received has examples, and all of them were sent', () => {
    expect(CODES.filter((code) => received.has(code) && !shown.has(code))).toEqual([])
    expect(CODES.filter((code) => exampleOf(code) !== undefined && !shown.has(code))).toEqual([])
  })

  test('every code of deployments, health checks and secrets was received', () => {
    const codes = codesIn('deployment', 'healthCheck', 'secretSources', 'secretEntries')
    expect(codes).toHaveLength(18 + 34)
    expect(codes.filter((code) => !received.has(code) && !INVARIANTS.includes(code))).toEqual([])
  })
})

test('GET /api/v1/errors returns the catalogue', async () => {
  const api = world.platform.api(world.tokens.viewer)
  const { body } = await api.get('/api/v1/errors')
  const catalogue = CODES.map((code) => {
    return { code, ...entryOf(code) }
  })
  expect(body['items']).toEqual(catalogue)
  for (const entry of catalogue) expect((await api.get(`/api/v1/errors/${entry.code}`)).body).toEqual(entry)
})

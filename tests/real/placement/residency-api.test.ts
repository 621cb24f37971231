// Residency over HTTP: accepted and rejected demands, stored and announced labels, and warnings about a demand that no
// node satisfies now. See docs/design/residency.md#demands

import type { Alteration, DeploymentRecord, NodeId, Rejection, Warning } from '@holdfast/contract'
import { makeSimulatedKeys } from '@holdfast/testkit'
import { makeNode } from '@holdfast/testkit/nodes/enroll'
import type { ApiAnswer, ApiClient } from '@holdfast/testkit/platform/api-client'
import { dumpTenants } from '@holdfast/testkit/platform/dump-keys'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import { type Platform, type Replica, startReplica } from '@holdfast/testkit/platform/start-platform'
import { type OpenAgent, openRaw } from '@holdfast/testkit/session/raw-agent'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const COLLECTION = '/api/v1/deployments'
const LABELS = {
  country: 'holdfast.io/data-residency-country',
  region: 'holdfast.io/data-residency-region',
  blocked: 'holdfast.io/blocked-countries',
}
const at = (label: string) => `labels["${label}"]`

let platform: Platform
/** A second server of the platform, on which residency is not enforced. */
let lenient: Replica
let acme: ApiClient
let globex: ApiClient
const agents: OpenAgent[] = []

beforeAll(async () => {
  platform = await ownPlatform({
    settings: {
      roles: ['api', 'broker', 'gateway'],
      residency: { regions: { alpine: ['AT', 'CH'] } },
    },
  })
  const { regions } = platform.config.residency
  lenient = await startReplica(platform, {
    roles: ['api', 'broker'],
    residency: { enforcement: false, regions },
  })
  acme = platform.api(platform.acme.token)
  globex = platform.api(platform.globex.token)
  await reachableNode('vienna', { country: 'AT' })
  await reachableNode('texas', { country: 'US', region: 'na' })
  await reachableNode('nowhere', {})
  // The node `absent` is enrolled but never connected, so its labels are not used.
  await makeNode(platform.baseUrl, acme, 'absent', {
    token: { residency: { country: 'DE' } },
    sent: { labels: { 'holdfast.io/country': 'DE' } },
  })
})
afterAll(async () => {
  for (const agent of agents) agent.close()
  await lenient.stop()
  await platform.stop()
})

async function reachableNode(name: string, residency: { country?: string; region?: string }) {
  const { identityKey, publicKey, encryptionKey } = makeSimulatedKeys()
  const parts = { token: { residency }, sent: { publicKey, encryptionKey } }
  const nodeId = (await makeNode(platform.baseUrl, acme, name, parts)) as NodeId
  const labels = {
    ...(residency.country === undefined ? {} : { 'holdfast.io/country': residency.country }),
    ...(residency.region === undefined ? {} : { 'holdfast.io/geo-region': residency.region }),
  }
  agents.push(await openRaw(platform.baseUrl, { nodeId, generation: 1, identityKey }, { labels }))
}

interface Written {
  readonly deployment: DeploymentRecord
  readonly alterations: readonly Alteration[]
  readonly warnings: readonly Warning[]
}

function written(answer: ApiAnswer): Written {
  if (answer.status !== 200 && answer.status !== 201) throw new Error(answer.text)
  return JSON.parse(answer.text)
}

function refused(answer: ApiAnswer): readonly Rejection[] {
  expect(answer.status).toBe(422)
  return JSON.parse(answer.text).rejections
}

let serial = 0
const aName = () => {
  serial += 1
  return `d${serial}`
}
const bodyOf = (parts: object) => ({ kind: 'Deployment', name: aName(), image: platform.image, ...parts })
const resident = (residency: unknown) => ({ placement: { residency } })
const create = (parts: object, api = acme) => api.post(COLLECTION, bodyOf(parts))
const update = (name: string, sent: object) => acme.put(`${COLLECTION}/${name}`, sent)
const summary = (rejections: readonly Rejection[]) => rejections.map(({ code, field }) => `${code} ${field}`)
const ofResidency = ({ alterations }: Written) =>
  alterations
    .filter(({ code }) => code === 'residency_stored_as_label')
    .map(({ field, from, to }) => [field, from, to])

describe('a residency demand is rejected', () => {
  test.each<[string, object, string[]]>([
    [
      'a country that is not two capital letters',
      resident({ country: 'Germany' }),
      ['placement_invalid placement.residency.country'],
    ],
    [
      'invalid blocked countries',
      resident({ blockedCountries: ['US', 'usa'] }),
      ['placement_invalid placement.residency.blockedCountries[1]'],
    ],
    [
      'a country blocked twice',
      resident({ blockedCountries: ['US', 'US'] }),
      ['placement_invalid placement.residency.blockedCountries[1]'],
    ],
    [
      'a country demanded and blocked',
      resident({ country: 'DE', blockedCountries: ['DE'] }),
      ['placement_invalid placement.residency.blockedCountries[0]'],
    ],
    [
      'too many countries',
      resident({ blockedCountries: Array(250).fill('US') }),
      ['list_too_long placement.residency.blockedCountries'],
    ],
    ['an empty region', resident({ region: '' }), ['placement_invalid placement.residency.region']],
    [
      'an undeclared region',
      resident({ region: 'moon' }),
      ['residency_region_undeclared placement.residency.region'],
    ],
    ['null for a block', resident(null), ['field_type_invalid placement.residency']],
    [
      'residency labels without a block',
      { labels: { [LABELS.country]: 'DE', [LABELS.region]: 'eu', [LABELS.blocked]: 'US,CN' } },
      [
        `residency_label_handwritten ${at(LABELS.country)}`,
        `residency_label_handwritten ${at(LABELS.region)}`,
        `residency_label_handwritten ${at(LABELS.blocked)}`,
      ],
    ],
    [
      'residency labels beside the same part of the block',
      {
        ...resident({ country: 'DE', region: 'eu', blockedCountries: ['US'] }),
        labels: { [LABELS.country]: 'DE', [LABELS.region]: 'eu', [LABELS.blocked]: 'US' },
      },
      [
        `residency_declared_twice ${at(LABELS.country)}`,
        `residency_declared_twice ${at(LABELS.region)}`,
        `residency_declared_twice ${at(LABELS.blocked)}`,
      ],
    ],
    [
      'a residency label beside another part of the block',
      { ...resident({ region: 'eu' }), labels: { [LABELS.country]: 'DE' } },
      [`residency_label_handwritten ${at(LABELS.country)}`],
    ],
  ])('for %s', async (_about, parts, expected) => {
    const before = await dumpTenants(platform)
    expect(summary(refused(await create(parts)))).toEqual(expected)
    expect(await dumpTenants(platform)).toEqual(before)
  })

  test('with the list of declared regions', async () => {
    const [first] = refused(await create(resident({ region: 'moon' })))
    expect(first).toMatchObject({
      received: 'moon',
      expected: 'one of alpine, apac, dach, eea, eu, na, nordics',
    })
  })

  test('with the block filled in from the sent labels and the existing block', async () => {
    const labels = { [LABELS.country]: 'DE', [LABELS.blocked]: 'US, CN' }
    const [first] = refused(await create({ ...resident({ region: 'eu' }), labels }))
    const block = {
      placement: { residency: { country: 'DE', region: 'eu', blockedCountries: ['US', 'CN'] } },
    }
    expect(JSON.parse(first?.expected ?? '')).toEqual(block)
    expect((await create(block)).status).toBe(201)
  })

  test('without quoting a credential in the wrong place', async () => {
    const token = `ghp_${'a1B2'.repeat(9)}`
    const answers = [
      await create(resident({ country: token, region: token, blockedCountries: [token] })),
      await create({ ...resident({ region: token }), labels: { [LABELS.country]: token } }),
    ]
    for (const { status, text } of answers) {
      expect(status).toBe(422)
      expect(text).not.toContain(token)
    }
    expect(platform.logLines.filter((line) => line.includes(token))).toEqual([])
  })
})

describe('a stored residency demand', () => {
  const block = { country: 'AT', region: 'alpine', blockedCountries: ['US', 'CN'] }
  const labels = {
    [LABELS.country]: 'AT',
    [LABELS.region]: 'alpine',
    [LABELS.blocked]: 'US,CN',
  }

  test('is the block as sent, with the derived labels, each reported', async () => {
    const created = written(await create(resident(block)))
    expect(created.deployment).toMatchObject({ placement: { residency: block }, residencyLabels: labels })
    expect(created.deployment.labels).toBeUndefined()
    expect(ofResidency(created)).toEqual([
      ['placement.residency.country', 'AT', { [LABELS.country]: 'AT' }],
      ['placement.residency.region', 'alpine', { [LABELS.region]: 'alpine' }],
      ['placement.residency.blockedCountries', ['US', 'CN'], { [LABELS.blocked]: 'US,CN' }],
    ])
    expect(created.warnings).toEqual([])
  })

  test('that is empty demands nothing: no label, no warning', async () => {
    const created = written(await create(resident({ blockedCountries: [] }), globex))
    expect(created.deployment).toMatchObject({ placement: { residency: { blockedCountries: [] } } })
    expect([created.deployment.residencyLabels, ofResidency(created), created.warnings]).toEqual([{}, [], []])
  })

  test('can be sent back from GET without a change, and its labels are not stored separately', async () => {
    const { name } = written(await create(resident(block))).deployment
    const shown = (await acme.get(`${COLLECTION}/${name}`)).body
    const before = await dumpTenants(platform)
    const echoed = written(await update(name, shown))
    expect([echoed.deployment, echoed.alterations, echoed.warnings]).toEqual([shown, [], []])
    expect(await dumpTenants(platform)).toEqual(before)
    const stray = written(await update(name, { residencyLabels: { [LABELS.country]: 'US' } }))
    expect(stray.alterations.map(({ code, field }) => `${code} ${field}`)).toEqual([
      'read_only_ignored residencyLabels',
    ])
    expect(stray.deployment.residencyLabels).toEqual(labels)
  })

  test('is replaced by an update with placement, which reports only the labels that it derives', async () => {
    const { name } = written(await create(resident(block))).deployment
    const scaled = written(await update(name, { replicas: 3 }))
    expect([ofResidency(scaled), scaled.deployment.residencyLabels]).toEqual([[], labels])
    const moved = written(await update(name, resident({ country: 'AT', region: 'dach' })))
    expect(ofResidency(moved)).toEqual([['placement.residency.region', 'dach', { [LABELS.region]: 'dach' }]])
    expect(moved.deployment.residencyLabels).toEqual({ [LABELS.country]: 'AT', [LABELS.region]: 'dach' })
    const freed = written(await update(name, { placement: null }))
    expect([freed.deployment.placement, freed.deployment.residencyLabels]).toEqual([undefined, {}])
  })

  test('validates a label against the block that would be stored', async () => {
    const { name } = written(await create(resident({ country: 'AT' }))).deployment
    const label = { labels: { [LABELS.country]: 'AT' } }
    expect(summary(refused(await update(name, label)))).toEqual([
      `residency_declared_twice ${at(LABELS.country)}`,
    ])
    expect(summary(refused(await update(name, { ...label, placement: null })))).toEqual([
      `residency_label_handwritten ${at(LABELS.country)}`,
    ])
    expect(summary(refused(await update(name, { labels: { [LABELS.region]: 'eu' } })))).toEqual([
      `residency_label_handwritten ${at(LABELS.region)}`,
    ])
  })
})

describe('a residency demand is stored, with a warning unless a node satisfies it', () => {
  const NO_MATCH = {
    code: 'residency_no_match',
    field: 'placement.residency',
    advertised: { countries: ['AT', 'US'], regions: ['na'] },
    why: expect.stringContaining('the countries AT, US and the regions na.'),
  }
  const OFF = {
    code: 'residency_enforcement_off',
    field: 'placement.residency',
    why: expect.stringContaining('residency.enforcement is off'),
  }

  test.each<[string, object, boolean]>([
    ['a country that a node advertises', { country: 'AT' }, true],
    ['a country that only an unconnected node advertises', { country: 'DE' }, false],
    ['a region by its name', { region: 'na' }, true],
    ['a region through one of its countries', { region: 'alpine' }, true],
    ['a region without a node', { region: 'nordics' }, false],
    ['a country of one node and a region of another', { country: 'AT', region: 'na' }, false],
    ['blocked countries, and a node that reports none', { blockedCountries: ['AT', 'US'] }, true],
    ['a region whose country is blocked', { region: 'alpine', blockedCountries: ['AT'] }, false],
  ])('for %s', async (_about, residency, honoured) => {
    const { deployment, warnings } = written(await create(resident(residency)))
    expect(warnings).toEqual(honoured ? [] : [NO_MATCH])
    expect(deployment.placement).toEqual({ residency })
  })

  test('for a tenant without a reachable node, without revealing the nodes of others', async () => {
    const { warnings } = written(await create(resident({ country: 'AT' }), globex))
    expect(warnings).toEqual([
      {
        ...NO_MATCH,
        advertised: { countries: [], regions: [] },
        why: expect.stringContaining('No node of this tenant is reachable.'),
      },
    ])
  })

  test('by an update, a rollback, a restart, every dry run, and in the log', async () => {
    const tried = written(await acme.post(`${COLLECTION}?dryRun=true`, bodyOf(resident({ country: 'DE' }))))
    expect(tried.warnings).toEqual([NO_MATCH])
    const { name } = written(await create(resident({ country: 'AT' }))).deployment
    const one = `${COLLECTION}/${name}`
    expect(written(await acme.put(`${one}?dryRun=true`, resident({ country: 'DE' }))).warnings).toEqual([
      NO_MATCH,
    ])
    const answer = await update(name, resident({ country: 'DE' }))
    expect(written(answer).warnings).toEqual([NO_MATCH])
    const id = answer.headers.get('x-request-id') ?? '-'
    expect(platform.logLines.filter((line) => line.includes(id)).join()).toContain('residency_no_match')
    expect(written(await update(name, { replicas: 2 })).warnings).toEqual([NO_MATCH])
    for (const query of ['?dryRun=true', '']) {
      expect(written(await acme.post(`${one}/restart${query}`, undefined)).warnings).toEqual([NO_MATCH])
    }
    for (const query of ['?dryRun=true', '']) {
      expect(written(await acme.post(`${one}/rollback${query}`, { revision: 1 })).warnings).toEqual([])
      expect(written(await acme.post(`${one}/rollback${query}`, { revision: 2 })).warnings).toEqual([
        NO_MATCH,
      ])
    }
    expect(written(await update(name, { placement: null })).warnings).toEqual([])
  })

  test('if residency is not enforced, even if a node matches', async () => {
    const api = lenient.api(platform.acme.token)
    const body = bodyOf(resident({ country: 'AT' }))
    expect(written(await api.post(`${COLLECTION}?dryRun=true`, body)).warnings).toEqual([OFF])
    expect(written(await api.post(COLLECTION, body)).warnings).toEqual([OFF])
    const one = `${COLLECTION}/${body.name}`
    expect(written(await api.put(one, resident({ country: 'DE' }))).warnings).toEqual([OFF])
    expect(written(await api.post(`${one}/rollback`, { revision: 1 })).warnings).toEqual([OFF])
    expect(written(await api.post(`${one}/restart`, undefined)).warnings).toEqual([OFF])
    expect(written(await api.post(COLLECTION, bodyOf({}))).warnings).toEqual([])
  })
})

test('every role sees the regions with their countries and whether they are enforced', async () => {
  const { status, body } = await acme.get('/api/v1/scheduler/regions')
  const { regions }: { regions?: { name: string; countries: string[] }[] } = body
  expect([status, body['enforcement']]).toEqual([200, true])
  expect(regions?.map(({ name }) => name)).toEqual(['alpine', 'apac', 'dach', 'eea', 'eu', 'na', 'nordics'])
  expect(regions?.[0]).toEqual({ name: 'alpine', countries: ['AT', 'CH'] })
  const shown = await lenient.api(platform.acme.token).get('/api/v1/scheduler/regions')
  expect(shown.body).toEqual({ ...body, enforcement: false })
})

test('a region that is no longer declared blocks no other change, and no rollback restores it', async () => {
  const { alpine: _gone, ...regions } = platform.config.residency.regions
  const { name } = written(await create(resident({ region: 'alpine' }))).deployment
  const later = await startReplica(platform, {
    roles: ['api', 'broker'],
    residency: { enforcement: true, regions },
  })
  try {
    const api = later.api(platform.acme.token)
    const one = `${COLLECTION}/${name}`
    const scaled = written(await api.put(one, { replicas: 2 }))
    expect(scaled.warnings.map(({ code }) => code)).toEqual(['residency_no_match'])
    await api.put(one, { placement: null })
    expect(summary(refused(await api.post(`${one}/rollback`, { revision: 1 })))).toEqual([
      'residency_region_undeclared placement.residency.region',
    ])
  } finally {
    await later.stop()
  }
})

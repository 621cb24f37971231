import { decodeOpen, deploymentSpecShape, type JsonObject, showUnknown } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import { canonicalTemplate, containerTemplate } from '../../node/container-template.ts'
import { aBody, aRecord, DIGEST, forCreate, forUpdate } from '../admission.fixture.ts'
import { admitDeployment } from '../admit-deployment.ts'
import { canonicalSpec } from './canonical-spec.ts'
import { normalise } from './normalise.ts'

const create = (parts = {}) => normalise(aBody(parts), undefined)
const record = aRecord(
  aBody({
    replicas: 3,
    healthCheck: { type: 'exec', command: ['curl -f localhost'] },
    environment: { B: '2', A: '1' },
    dependsOn: { db: 'healthy', cache: 'started' },
    update: { order: 'stop-first' },
  }),
)
const update = (sent: JsonObject, current = record) => normalise(sent, current)
const announced = ({
  alterations,
}: {
  alterations: { code: string; field: string; from: unknown; to: unknown }[]
}) => alterations.map(({ code, field, from, to }) => [code, field, from, to])

test('the smallest body gets every default, each reported as an alteration', () => {
  const stored = create()
  expect(stored.spec).toEqual({
    ...aBody(),
    replicas: 1,
    secrets: [],
    secretsVersion: 0,
    resources: { cpuMillis: 0, memoryBytes: 0 },
    update: { order: 'start-first', parallelism: 1, failureAction: 'rollback', progressDeadline: '300s' },
    stopGracePeriod: '10s',
  })
  expect(announced(stored)).toEqual([
    ['default_applied', 'replicas', null, 1],
    ['default_applied', 'secrets', null, []],
    ['default_applied', 'secretsVersion', null, 0],
    ['default_applied', 'resources', null, { cpuMillis: 0, memoryBytes: 0 }],
    ['default_applied', 'update', null, stored.spec.update],
    ['default_applied', 'stopGracePeriod', null, '10s'],
  ])
})

test('a health check gets no default for retries and timeout', () => {
  const { spec, alterations } = create({ healthCheck: { type: 'exec', command: ['x'] } })
  expect(spec.healthCheck).toEqual({ type: 'exec', command: ['x'], interval: '30s', startPeriod: '0s' })
  expect(alterations.map(({ field }) => field)).toContain('healthCheck.interval')
  expect(alterations.map(({ field }) => field)).toContain('healthCheck.startPeriod')
})

test('a route without a path gets the path /, reported with its index', () => {
  const [first, second] = [
    { host: 'a.example', path: '/api', port: 80 },
    { host: 'b.example', port: 81 },
  ]
  const stored = create({ routes: [first, second] })
  expect(stored.spec.routes).toEqual([first, { ...second, path: '/' }])
  expect(announced(stored)).toContainEqual(['default_applied', 'routes[1].path', null, '/'])
  expect(announced(stored).filter(([, field]) => String(field).startsWith('routes'))).toHaveLength(1)
})

test('null clears routes, and an empty list stays empty', () => {
  const routed = { ...record, routes: [{ host: 'a.example', path: '/', port: 80 }] }
  expect(update({ routes: null }, routed).spec).not.toHaveProperty('routes')
  expect(update({ routes: [] }, routed).spec.routes).toEqual([])
  expect(update({ replicas: 1 }, routed).spec.routes).toEqual(routed.routes)
})

test('normalise does not change the sent body', () => {
  const sent = aBody({
    routes: [{ host: 'a.example', port: 80 }],
    update: { order: 'stop-first' },
    placement: { residency: {} },
  })
  const before = JSON.stringify(sent)
  normalise(sent, undefined)
  expect(JSON.stringify(sent)).toBe(before)
})

describe('normalise and residency', () => {
  const residency = { blockedCountries: ['US', 'CN'], region: 'eu', country: 'DE' }
  const labels = {
    country: { 'holdfast.io/data-residency-country': 'DE' },
    region: { 'holdfast.io/data-residency-region': 'eu' },
    blocked: { 'holdfast.io/blocked-countries': 'US,CN' },
  }
  const resident = aRecord(aBody({ placement: { residency, spread: 'zone' } }))
  const ofResidency = (stored: Parameters<typeof announced>[0]) =>
    announced(stored).filter(([code]) => code === 'residency_stored_as_label')

  test('keeps the block as sent and reports each label it is stored as', () => {
    const stored = create({ placement: { residency } })
    expect(stored.spec.placement).toEqual({ residency })
    expect(ofResidency(stored)).toEqual([
      ['residency_stored_as_label', 'placement.residency.country', 'DE', labels.country],
      ['residency_stored_as_label', 'placement.residency.region', 'eu', labels.region],
      ['residency_stored_as_label', 'placement.residency.blockedCountries', ['US', 'CN'], labels.blocked],
    ])
  })

  test('writes no label for an empty block', () => {
    const stored = create({ placement: { residency: { blockedCountries: [] } } })
    expect(stored.spec.placement).toEqual({ residency: { blockedCountries: [] } })
    expect(ofResidency(stored)).toEqual([])
  })

  test.each<[string, JsonObject, string[]]>([
    ['not sent', { replicas: 2 }, []],
    ['sent as it is stored', { placement: { residency, spread: 'zone' } }, []],
    ['one value another', { placement: { residency: { ...residency, country: 'FR' } } }, ['country']],
    [
      'the same countries in another order',
      { placement: { residency: { blockedCountries: ['CN', 'US'] } } },
      ['blockedCountries'],
    ],
    ['cleared', { placement: null }, []],
    ['placement without it', { placement: { spread: 'zone' } }, []],
  ])('an update announces what it makes: %s', (_about, sent, keys) => {
    const fields = ofResidency(update(sent, resident)).map(([, field]) => field)
    expect(fields).toEqual(keys.map((key) => `placement.residency.${key}`))
  })
})

test('normalise keeps the order of map keys, empty lists and empty maps', () => {
  const { spec } = create({
    environment: { B: '', A: '' },
    labels: {},
    command: [],
    placement: {},
    limits: {},
  })
  expect(Object.keys(spec.environment ?? {})).toEqual(['B', 'A'])
  expect(spec).toMatchObject({ labels: {}, command: [], placement: {}, limits: {} })
})

describe('normalise and secretsVersion', () => {
  test.each<[string, JsonObject, unknown[][]]>([
    ['another number in a POST', { secretsVersion: 5 }, [['secrets_version_kept', 'secretsVersion', 5, 0]]],
    ['zero in a POST', { secretsVersion: 0 }, []],
  ])('%s', (_about, parts, expected) => {
    const stored = create(parts)
    expect(stored.spec.secretsVersion).toBe(0)
    expect(announced(stored).filter(([, field]) => field === 'secretsVersion')).toEqual(expected)
  })

  test.each<[JsonObject, unknown[][]]>([
    [{}, []],
    [{ secretsVersion: 4 }, []],
    [{ secretsVersion: 9 }, [['secrets_version_kept', 'secretsVersion', 9, 4]]],
    [{ secretsVersion: null }, [['secrets_version_kept', 'secretsVersion', null, 4]]],
  ])('a PUT of %j keeps the stored number', (sent, expected) => {
    const stored = update(sent, { ...record, secretsVersion: 4 })
    expect(stored.spec.secretsVersion).toBe(4)
    expect(announced(stored)).toEqual(expected)
  })
})

describe('normalise of an update', () => {
  test('keeps fields that were not sent and replaces those that were', () => {
    const { spec, alterations } = update({ environment: { C: '3' } })
    expect(spec).toMatchObject({ replicas: 3, environment: { C: '3' }, update: record.update })
    expect(spec.environment).toEqual({ C: '3' })
    expect(alterations).toEqual([])
  })

  test('replaces null by the default and reports it', () => {
    const stored = update({ healthCheck: null, replicas: null, update: null })
    expect(stored.spec).not.toHaveProperty('healthCheck')
    expect(announced(stored).map(([code, field, from]) => [code, field, from])).toEqual([
      ['default_applied', 'replicas', null],
      ['default_applied', 'update', null],
    ])
  })

  test('completes a partial update block with defaults, not with stored values', () => {
    const { spec } = update({ update: { parallelism: 2 } })
    expect(spec.update).toMatchObject({ order: 'start-first', parallelism: 2 })
  })

  test('reports read-only fields that differ without quoting a credential', () => {
    const token = `ghp_${'a1B2'.repeat(9)}`
    const stored = update({ uid: record.uid, revision: 9, specHash: token, status: { phase: 'Running' } })
    expect(announced(stored).map(([code, field]) => [code, field])).toEqual([
      ['read_only_ignored', 'revision'],
      ['read_only_ignored', 'specHash'],
      ['read_only_ignored', 'status'],
    ])
    expect(JSON.stringify(stored.alterations)).not.toContain(token)
  })

  test('warns of each dependency that a shorter list removes', () => {
    const [warning] = update({ dependsOn: { db: 'healthy' } }).warnings
    expect(warning).toMatchObject({ code: 'list_shortened', field: 'dependsOn' })
    expect(warning?.why).toContain('cache')
    expect(update({ dependsOn: null }).warnings[0]?.why).toContain('db, cache')
    expect(update({ replicas: 1 }).warnings).toEqual([])
  })

  test('warns of removed secrets and volumes', () => {
    const current = {
      ...record,
      secrets: [{ name: 'DB', vault_path: 'deployments/db', anchor: 'external', rotation: 'restart' }],
      volumes: [{ volume: 'vol_1', target: '/a', type: 'volume' as const, readOnly: false }],
    }
    expect(
      update({ secrets: [], volumes: [] }, current).warnings.map(({ field, why }) => [field, why]),
    ).toEqual([
      ['secrets', 'This update removes DB from secrets.'],
      ['volumes', 'This update removes vol_1 from volumes.'],
    ])
  })
})

describe('normalise warns about a health check that cannot fail', () => {
  test.each([
    [['true'], true],
    [[':'], true],
    [['exit 0'], true],
    [[' exit  0 ; '], true],
    [['/bin/true', '--x'], true],
    [['sh', '-c', 'true'], true],
    [['curl -f localhost || true'], true],
    [['curl -f localhost; exit 0'], true],
    [['exit 1'], false],
    [['curl -f localhost || exit'], false],
    [['curl -f localhost'], false],
    [['echo true && false'], false],
    [['echo', 'true'], false],
    [['truely'], false],
    [[`${' '.repeat(100_000)}true`], false],
  ])('%j: %s', (command, trivial) => {
    const { warnings } = create({ healthCheck: { type: 'exec', command } })
    expect(warnings.map(({ code }) => code)).toEqual(trivial ? ['health_check_trivial'] : [])
  })
})

test('equal specs have the same canonical text in any order of keys', () => {
  const one = create({ environment: { A: '1', B: '2' } }).spec
  const other = create({ environment: { B: '2', A: '1' } }).spec
  expect(canonicalSpec(one)).toBe(canonicalSpec(other))
  expect(canonicalSpec(one)).not.toBe(canonicalSpec(create({ replicas: 2 }).spec))
  expect(canonicalSpec(one)).toContain('"secretsVersion":0')
})

test('a route changes the canonical text but not the container template', () => {
  const one = create({ routes: [{ host: 'a.example', path: '/', port: 80 }] }).spec
  const other = create({ routes: [{ host: 'a.example', path: '/', port: 81 }] }).spec
  expect(canonicalSpec(one)).not.toBe(canonicalSpec(other))
  expect(canonicalTemplate(one, DIGEST)).toBe(canonicalTemplate(other, DIGEST))
  expect(containerTemplate(one, DIGEST)).toEqual(containerTemplate(create().spec, DIGEST))
})

test('normalise throws for a body with a fault', () => {
  expect(admitDeployment(aBody({ replicas: -1 }), forCreate())).not.toHaveProperty('spec')
  expect(admitDeployment({ replicas: 'x' }, forUpdate(record))).not.toHaveProperty('spec')
  expect(() => create({ replicas: 'x' })).toThrow(TypeError)
})

describe('members of a newer version', () => {
  const specWith = (canary: object) =>
    decodeOpen(deploymentSpecShape, structuredClone({ ...create().spec, ...canary }))
  const newer = {
    ...aRecord(aBody()),
    ...specWith({ update: { ...create().spec.update, canary: 5 }, weight: 7 }),
  }
  const shown = (sent: JsonObject, replaces: 'fields' | 'spec') =>
    showUnknown(normalise(sent, newer, undefined, replaces).spec)

  test('stay in the spec when a client replaces fields', () => {
    const sent = { update: { order: 'stop-first' } }
    expect(shown(sent, 'fields')).toMatchObject({ weight: 7, update: { order: 'stop-first', canary: 5 } })
  })

  test('come from the archive in a rollback, which replaces the whole spec', () => {
    const { secretsVersion: _kept, ...archived } = specWith({ weight: 3 })
    const spec = shown(archived, 'spec')
    expect(spec).toMatchObject({ weight: 3 })
    expect(spec).not.toHaveProperty('update.canary')
  })
})

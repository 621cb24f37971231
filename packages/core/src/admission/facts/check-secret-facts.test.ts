import { describe, expect, test } from 'vitest'
import { DEFAULT_LIMITS } from '../../limits.ts'
import type { SentMaterial } from '../../secrets/material.ts'
import type { CredentialFact } from '../../secrets/plan-pins.ts'
import { aBody, aRecord, summary } from '../admission.fixture.ts'
import { normalise } from '../normalize/normalise.ts'
import { checkFacts } from './check-facts.ts'
import type { Facts } from './facts.ts'

const A = 'vol_01JCPZ0000000000000000000A'
const B = 'vol_01JCPZ0000000000000000000B'
const mount = (volume: string, target = '/data') => ({ volume, target, type: 'volume', readOnly: false })
const secret = (name: string, vault_path: string, anchor = 'external') => ({
  name,
  vault_path,
  anchor,
  rotation: 'restart',
})
const ANCHORED = secret('DB', 'resources/db', `volume(${A})`)

const specOf = (parts: { [field: string]: unknown }) => normalise(aBody(parts), undefined).spec
const recordOf = (parts: { [field: string]: unknown }) => ({
  record: { ...aRecord(), ...specOf(parts) },
  deleting: false,
})
const judge = (
  parts: { [field: string]: unknown },
  facts: Facts,
  mode: 'create' | 'update' = 'update',
  material: SentMaterial[] = [],
) => checkFacts(specOf(parts), facts, { mode, limits: DEFAULT_LIMITS }, material)

describe('a secret label has one namespace in the tenant', () => {
  const credentials = new Map<string, CredentialFact>([
    ['db', { namespace: 'resources', newest: null, initial: null }],
    ['web', { namespace: 'deployments', newest: 3, initial: 1 }],
  ])
  const secrets = [secret('A', 'resources/db'), secret('B', 'resources/web'), secret('C', 'resources/new')]

  test('rejects another namespace at its index', () => {
    const { rejections } = judge({ secrets }, { existing: undefined, credentials }, 'create')
    expect(summary(rejections)).toEqual(['secret_path_namespace_split secrets[1].vault_path'])
    expect(rejections[0]?.expected).toBe('deployments/web')
  })

  test('skips labels that were not read', () => {
    expect(judge({ secrets }, { existing: undefined }, 'create').rejections).toEqual([])
  })
})

describe('a secret that a volume depends on', () => {
  const volumes = [mount(A)]
  const before = recordOf({ volumes, secrets: [secret('X', 'resources/x'), ANCHORED] })

  test.each<[string, { [field: string]: unknown }, ...string[]]>([
    ['stays', { volumes, secrets: [ANCHORED] }],
    ['stays at another place beside a new one', { volumes, secrets: [ANCHORED, secret('Y', 'resources/y')] }],
    ['is gone', { volumes, secrets: [secret('X', 'resources/x')] }, 'anchored_secret_dropped secrets'],
    ['sends an empty list', { volumes, secrets: [] }, 'anchored_secret_dropped secrets'],
    ['is renamed', { volumes, secrets: [{ ...ANCHORED, name: 'DB2' }] }, 'anchored_secret_dropped secrets'],
    [
      'is anchored to nothing',
      { volumes, secrets: [{ ...ANCHORED, anchor: 'external' }] },
      'anchored_secret_dropped secrets',
    ],
    [
      'is anchored to another volume',
      { volumes: [mount(A), mount(B, '/b')], secrets: [{ ...ANCHORED, anchor: `volume(${B})` }] },
      'anchored_secret_dropped secrets',
    ],
    [
      'has another path',
      { volumes, secrets: [secret('X', 'resources/x'), { ...ANCHORED, vault_path: 'resources/other' }] },
      'anchored_secret_repointed secrets[1].vault_path',
    ],
    ['goes with its volume', { volumes: [], secrets: [] }],
    ['has another path without its volume', { secrets: [secret('DB', 'resources/other')] }],
    ['goes with its volume, while another stays', { volumes: [mount(B)], secrets: [] }],
  ])('%s', (_about, parts, ...expected) => {
    expect(summary(judge(parts, { existing: before }).rejections)).toEqual(expected)
  })

  test('is rejected with its volume and path', () => {
    const [dropped] = judge({ volumes, secrets: [] }, { existing: before }).rejections
    expect(dropped?.expected).toContain('DB')
    expect(dropped?.why).toContain(A)
    const moved = { ...ANCHORED, vault_path: 'resources/other' }
    const [repointed] = judge({ volumes, secrets: [moved] }, { existing: before }).rejections
    expect(repointed).toMatchObject({ received: 'resources/other' })
    expect(repointed?.expected).toContain('resources/db')
  })

  test('ignores a deleted deployment of the same name', () => {
    expect(summary(judge({ volumes, secrets: [] }, { existing: before }, 'create').rejections)).toEqual([
      'deployment_exists name',
    ])
  })
})

test('reports faults of secrets after nodeId and before routes', () => {
  const volumes = [mount(A)]
  const facts: Facts = {
    existing: recordOf({ volumes, secrets: [ANCHORED] }),
    node: { answer: 'unknown' },
    credentials: new Map([['x', { namespace: 'deployments', newest: null, initial: null }]]),
    routeHolders: new Map([[0, 'shop']]),
    quotas: [{ kind: 'secrets', used: 1, requested: 1, limit: 1 }],
  }
  const parts = {
    volumes,
    nodeId: 'node_01JD0000000000000000000000',
    routes: [{ host: 'a.example', path: '/', port: 80 }],
    secrets: [secret('X', 'resources/x')],
  }
  expect(summary(judge(parts, facts).rejections)).toEqual([
    'node_not_a_placement_candidate nodeId',
    'anchored_secret_dropped secrets',
    'secret_path_namespace_split secrets[0].vault_path',
    'route_conflict routes[0]',
    'quota_exceeded quotas.secrets',
  ])
})

test.each<[CredentialFact | undefined, boolean]>([
  [undefined, false],
  [{ namespace: 'resources', newest: null, initial: null }, false],
  [{ namespace: 'resources', newest: 1, initial: 1 }, true],
])('nothing is generated where something is: %j', (credential, exists) => {
  const generate = { keys: ['a'], bytes: 32, encoding: 'hex' } as const
  const material = [
    { namespace: 'resources', label: 'x', values: new Map([['a', 'x']]) },
    { namespace: 'resources', label: 'db', values: new Map(), generate },
  ]
  const credentials = new Map(
    credential === undefined
      ? []
      : [
          ['db', credential],
          ['x', credential],
        ],
  )
  const secrets = [secret('X', 'resources/x'), secret('DB', 'resources/db')]
  const { warnings } = judge({ secrets }, { existing: undefined, credentials }, 'create', material)
  expect(warnings.map(({ code, field }) => `${code} ${field}`)).toEqual(
    exists ? ['secret_exists secrets[1].generate'] : [],
  )
})

test('values that leave out keys of the version before are warned of', () => {
  const fact = { namespace: 'resources', newest: 3, initial: 1, newestKeys: ['user', 'password'] }
  const material = [{ namespace: 'resources', label: 'db', values: new Map([['user', 'x']]) }]
  const secrets = [secret('X', 'resources/x'), secret('DB', 'resources/db')]
  const facts = { existing: undefined, credentials: new Map([['db', fact]]) }
  const { warnings } = judge({ secrets }, facts, 'create', material)
  expect(warnings).toMatchObject([{ code: 'secret_keys_dropped', field: 'secrets[1].values' }])
  expect(warnings[0]?.why).toContain('password of version 3')
})

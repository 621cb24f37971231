import type { JsonObject } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import { DEFAULT_LIMITS } from '../../limits.ts'
import { aBody, aRecord, DIGEST, IMAGE, summary } from '../admission.fixture.ts'
import { normalise } from '../normalize/normalise.ts'
import { checkFacts, checkFound, checkValidPart } from './check-facts.ts'
import type { DependencyFact, Facts, NodeFact } from './facts.ts'

const NOTHING: Facts = { existing: undefined }
const specOf = (parts: { [field: string]: unknown } = {}) => normalise(aBody(parts), undefined).spec
const create = (parts: { [field: string]: unknown }, facts: Partial<Facts>) =>
  checkFacts(specOf(parts), { ...NOTHING, ...facts }, { mode: 'create', limits: DEFAULT_LIMITS })
const update = (parts: JsonObject, facts: Facts) =>
  checkFacts(specOf(parts), facts, { mode: 'update', limits: DEFAULT_LIMITS })
const existing = { record: aRecord(), deleting: false }

/** Builds a dependency graph. `a>b` means that a depends on b. A name that ends in x has no health check. */
function graph(...edges: string[]): Map<string, DependencyFact> {
  const found = new Map<string, DependencyFact>()
  for (const edge of edges) {
    const [from = '', to] = edge.split('>')
    const known = found.get(from)?.dependsOn ?? []
    found.set(from, {
      hasHealthCheck: !from.endsWith('x'),
      dependsOn: to === undefined ? known : [...known, to],
    })
  }
  return found
}

/** A dependency chain of the given length: c1>c2>...>cN. */
const chain = (length: number) =>
  graph(...Array.from({ length: length - 1 }, (_, at) => `c${at + 1}>c${at + 2}`), `c${length}`)

test('checkFacts accepts a valid deployment without alterations or warnings', () => {
  expect(create({}, {})).toEqual({
    rejections: [],
    alternative: false,
    alterations: [],
    warnings: [],
    imageDigest: null,
  })
})

test('a name is taken until the old deployment is deleted', () => {
  expect(summary(create({}, { existing }).rejections)).toEqual(['deployment_exists name'])
  const deleting = { ...existing, deleting: true }
  expect(summary(create({}, { existing: deleting }).rejections)).toEqual(['deployment_exists name'])
  expect(summary(update({}, { existing: deleting }).rejections)).toEqual(['deployment_not_found name'])
  expect(update({}, { existing }).rejections).toEqual([])
})

test('a rejection that a corrected field could make untrue is left out', () => {
  const facts: Facts = { existing, dependents: ['shop'], dependencies: graph('db>web', 'db') }
  const check = (...faulty: string[]) =>
    summary(
      checkValidPart(
        specOf({ dependsOn: { db: 'started', gone: 'started' } }),
        facts,
        { mode: 'create', limits: DEFAULT_LIMITS },
        [],
        new Set(faulty),
      ),
    )
  expect(check('replicas')).toEqual([
    'deployment_exists name',
    'dependency_invalid dependsOn.db',
    'dependency_not_found dependsOn.gone',
    'dependency_has_no_health_check healthCheck',
  ])
  expect(check('name', 'healthCheck')).toEqual(['dependency_not_found dependsOn.gone'])
})

test('an update of a missing deployment names what the path holds', () => {
  expect(summary(checkFound({ name: 'web' }, undefined))).toEqual(['deployment_not_found name'])
  expect(summary(checkFound({ uid: existing.record.uid }, undefined))).toEqual([
    'deployment_not_found deployment_id',
  ])
  expect(checkFound({ name: 'web' }, existing)).toEqual([])
})

describe('checkFacts and dependsOn', () => {
  test.each<[string, { [name: string]: string }, Map<string, DependencyFact>, string[]]>([
    ['exists and is checked', { db: 'healthy' }, graph('db'), []],
    ['does not exist', { db: 'started' }, graph(), ['dependency_not_found dependsOn.db']],
    ['has no check', { dbx: 'healthy' }, graph('dbx'), ['dependency_has_no_health_check dependsOn.dbx']],
    ['has no check and needs none', { dbx: 'started' }, graph('dbx'), []],
    ['waits for this one', { db: 'started' }, graph('db>web'), ['dependency_invalid dependsOn.db']],
    [
      'waits for it further down',
      { a: 'started' },
      graph('a>b', 'b>c', 'c>web'),
      ['dependency_invalid dependsOn.a'],
    ],
    ['is in a circle of its own', { a: 'started' }, graph('a>b', 'b>a'), ['dependency_invalid dependsOn.a']],
    ['is a diamond', { a: 'started', d: 'started' }, graph('a>b', 'a>c', 'b>d', 'c>d', 'd'), []],
    ['is 16 deep', { c1: 'started' }, chain(16), []],
    ['is 17 deep', { c1: 'started' }, chain(17), ['dependency_invalid dependsOn.c1']],
    [
      'is 17 deep by one of two ways',
      { c2: 'started', c1: 'started' },
      chain(17),
      ['dependency_invalid dependsOn.c1'],
    ],
    [
      'all at once, in the order sent',
      { nope: 'started', dbx: 'healthy', 'a-b': 'started' },
      graph('dbx', 'a-b>web'),
      [
        'dependency_not_found dependsOn.nope',
        'dependency_has_no_health_check dependsOn.dbx',
        'dependency_invalid dependsOn["a-b"]',
      ],
    ],
  ])('%s', (_about, dependsOn, dependencies, expected) => {
    expect(summary(create({ dependsOn }, { dependencies }).rejections)).toEqual(expected)
  })

  test('rejects the removal of a health check that others wait for', () => {
    const check = { type: 'exec', command: ['true'] }
    const refusal = update({}, { existing, dependents: ['shop', 'mail'] }).rejections
    expect(summary(refusal)).toEqual(['dependency_has_no_health_check healthCheck'])
    expect(refusal[0]?.expected).toContain('until web is healthy: shop, mail')
    expect(update({ healthCheck: check }, { existing, dependents: ['shop'] }).rejections).toEqual([])
    expect(update({}, { existing, dependents: [] }).rejections).toEqual([])
  })

  test('skips dependencies that were not read', () => {
    expect(create({ dependsOn: { db: 'healthy' } }, {}).rejections).toEqual([])
  })
})

describe('checkFacts and the image', () => {
  test('pins and reports the digest of an existing image', () => {
    const { alterations, imageDigest } = create({}, { image: { answer: 'exists', digest: DIGEST } })
    expect(imageDigest).toBe(DIGEST)
    expect(alterations).toMatchObject([{ code: 'image_digest_resolved', from: null, to: DIGEST }])
  })

  test('does not alter a reference by digest', () => {
    const image = `${IMAGE}@${DIGEST}`
    const verdict = create({ image }, { image: { answer: 'exists', digest: DIGEST } })
    expect(verdict).toMatchObject({ alterations: [], imageDigest: DIGEST })
  })

  test('rejects a missing image and unavailable credentials', () => {
    expect(summary(create({}, { image: { answer: 'absent' } }).rejections)).toEqual(['image_not_found image'])
    expect(summary(create({}, { image: { answer: 'credentials_unavailable' } }).rejections)).toEqual([
      'registry_credential_store_unavailable image',
    ])
  })

  test('accepts an unreachable registry with a warning that names the cause', () => {
    const verdict = create({}, { image: { answer: 'unreachable', cause: 'the connection timed out' } })
    expect(verdict).toMatchObject({ rejections: [], alterations: [], imageDigest: null })
    expect(verdict.warnings).toMatchObject([{ code: 'registry_unreachable', field: 'image' }])
    expect(verdict.warnings[0]?.why).toContain('the connection timed out')
  })

  test('keeps the digest of an unchanged image and resolves a changed one', () => {
    const moved = { answer: 'exists', digest: `sha256:${'b'.repeat(64)}` } as const
    expect(update({}, { existing, image: moved })).toMatchObject({ imageDigest: DIGEST, alterations: [] })
    const other = update({ image: `${IMAGE}-1` }, { existing, image: moved })
    expect(other).toMatchObject({
      imageDigest: moved.digest,
      alterations: [{ code: 'image_digest_resolved' }],
    })
  })
})

describe('checkFacts and nodeId', () => {
  const nodeId = 'node_01JD0000000000000000000000'
  const verdictOf = (answer: NodeFact['answer']) => create({ nodeId }, { node: { answer } })

  test.each<[NodeFact['answer'], string[]]>([
    ['candidate', []],
    ['control_plane', ['node_not_a_placement_candidate nodeId']],
    ['unknown', ['node_not_a_placement_candidate nodeId']],
    ['none_enrolled', ['node_candidates_unresolvable nodeId']],
    ['unreadable', ['node_candidates_unresolvable nodeId']],
  ])('%s', (answer, expected) => {
    expect(summary(verdictOf(answer).rejections)).toEqual(expected)
  })

  test('uses the second status only for unreadable nodes in the first rejection', () => {
    expect(verdictOf('unreadable').alternative).toBe(true)
    expect(verdictOf('none_enrolled').alternative).toBe(false)
    const taken = create({ nodeId }, { existing, node: { answer: 'unreadable' } })
    expect(taken.alternative).toBe(false)
  })

  test('lets only a deployment that already names a control-plane node name it again', () => {
    const there = { record: { ...existing.record, ...specOf({ nodeId }) }, deleting: false }
    const node = { answer: 'control_plane' } as const
    expect(update({ nodeId }, { existing: there, node }).rejections).toEqual([])
    const other = 'node_01JD0000000000000000000001'
    expect(summary(update({ nodeId: other }, { existing: there, node }).rejections)).toEqual([
      'node_not_a_placement_candidate nodeId',
    ])
  })
})

test('a quota rejects a request that would exceed it', () => {
  const quota = { kind: 'deployments', used: 200, requested: 1, limit: 200 }
  expect(summary(create({}, { quotas: [quota] }).rejections)).toEqual(['quota_exceeded quotas.deployments'])
  expect(create({}, { quotas: [{ ...quota, used: 199 }] }).rejections).toEqual([])
})

describe('checkFacts and routes', () => {
  const routes = [
    { host: 'a.example', path: '/', port: 80 },
    { host: 'b.example', path: '/api', port: 80 },
    { host: 'c.example', path: '/', port: 80 },
  ]

  test('rejects each route of another deployment with its index and owner', () => {
    const routeHolders = new Map([
      [2, 'shop'],
      [0, 'old-shop'],
    ])
    const { rejections } = create({ routes }, { routeHolders })
    expect(summary(rejections)).toEqual(['route_conflict routes[0]', 'route_conflict routes[2]'])
    expect(rejections.map(({ why }) => why.includes('old-shop'))).toEqual([true, false])
    expect(rejections[0]?.received).toContain('a.example')
  })

  test('accepts routes without another owner and routes that were not read', () => {
    expect(create({ routes }, { routeHolders: new Map() }).rejections).toEqual([])
    expect(create({ routes }, {}).rejections).toEqual([])
  })
})

test('reports all faults in the order name, dependsOn, image, nodeId, routes, quota', () => {
  const facts = {
    existing,
    dependencies: graph(),
    image: { answer: 'absent' },
    node: { answer: 'unknown' },
    routeHolders: new Map([[0, 'shop']]),
    quotas: [{ kind: 'deployments', used: 1, requested: 1, limit: 1 }],
  } as const
  const routes = [{ host: 'a.example', path: '/', port: 80 }]
  expect(summary(create({ dependsOn: { db: 'healthy' }, routes }, facts).rejections)).toEqual([
    'deployment_exists name',
    'dependency_not_found dependsOn.db',
    'image_not_found image',
    'node_not_a_placement_candidate nodeId',
    'route_conflict routes[0]',
    'quota_exceeded quotas.deployments',
  ])
})

test('a rollback uses the digest of the archived revision, whatever its tag resolves to now', () => {
  const [archivedDigest, moved] = [`sha256:${'a'.repeat(64)}`, `sha256:${'b'.repeat(64)}`]
  const back = update({}, { existing, archivedDigest, image: { answer: 'exists', digest: moved } })
  expect([back.imageDigest, back.alterations]).toEqual([archivedDigest, []])
  const blind = update(
    {},
    { existing, archivedDigest, image: { answer: 'unreachable', cause: 'it is away' } },
  )
  expect([blind.imageDigest, blind.warnings[0]?.why]).toEqual([
    archivedDigest,
    'The registry could not be queried: it is away. Replicas run the known digest.',
  ])
  expect(summary(update({}, { existing, archivedDigest, image: { answer: 'absent' } }).rejections)).toEqual([
    'image_not_found image',
  ])
})

describe('a dependency that may run on another node', () => {
  const distance = (schedulableNodes: number, nodeIds: [string, string][] = []) => ({
    dependencies: graph('db', 'cache'),
    distance: { schedulableNodes, nodeIds: new Map(nodeIds) },
  })
  const dependsOn = { db: 'started', cache: 'started' }
  const warned = (parts: { [field: string]: unknown }, facts: Partial<Facts>) => {
    const { rejections, warnings } = create({ dependsOn, ...parts }, facts)
    expect(rejections).toEqual([])
    return warnings.map(({ code, field }) => `${code} ${field}`)
  }

  test('is warned of by name, with the affinity that keeps them together', () => {
    expect(warned({}, distance(2))).toEqual([
      'dependency_elsewhere dependsOn.db',
      'dependency_elsewhere dependsOn.cache',
    ])
    const { warnings } = create({ dependsOn }, distance(2))
    expect(warnings[0]?.why).toContain('placement.affinity: [db]')
  })
  test('is not warned of if there is one schedulable node or none', () => {
    expect(warned({}, distance(1))).toEqual([])
    expect(warned({}, distance(0))).toEqual([])
  })
  test('is not warned of if affinity or the same nodeId keeps them together', () => {
    expect(warned({ placement: { affinity: ['db', 'cache'] } }, distance(3))).toEqual([])
    expect(warned({ placement: { affinity: ['db'] } }, distance(3))).toEqual([
      'dependency_elsewhere dependsOn.cache',
    ])
    expect(warned({ placement: { antiAffinity: ['db', 'cache'] } }, distance(3))).toHaveLength(2)
    const nodeIds: [string, string][] = [
      ['db', 'node_a'],
      ['cache', 'node_b'],
    ]
    expect(warned({ nodeId: 'node_a' }, distance(3, nodeIds))).toEqual([
      'dependency_elsewhere dependsOn.cache',
    ])
    expect(warned({}, distance(3, nodeIds))).toHaveLength(2)
  })
})

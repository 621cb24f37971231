// Tests the boundaries of each filter: accepted and refused nodes, with the required and the reported value of each
// refusal. The texts of refusals are tested in explain.test.ts and remedies.test.ts.

import { decode, FILTERS, type Json, refusalShape } from '@holdfast/contract'
import { describe, expect, test } from 'vitest'
import { createRefusalFinder } from '../check-candidates.ts'
import type { DesiredResidency, MountedVolume, NodeFacts, Workload } from '../facts.ts'
import { type Filter, RETRY_TRIGGERS } from '../refusal.ts'
import { aNode, aWorkload, nodeIdOf, someFacts } from '../scheduling.fixture.ts'
import { affinity } from './affinity.ts'
import { agentVersion } from './agent-version.ts'
import { antiAffinity } from './anti-affinity.ts'
import { claims } from './claims.ts'
import { controlPlaneNode } from './control-plane-node.ts'
import { cordon } from './cordon.ts'
import { creation } from './creation.ts'
import { diskPressure } from './disk-pressure.ts'
import { engine } from './engine.ts'
import { PLACEMENT_FILTERS } from './index.ts'
import { labelConstraint } from './label-constraint.ts'
import { namedNode } from './named-node.ts'
import { networkNode } from './network-node.ts'
import { quota } from './quota.ts'
import { readiness } from './readiness.ts'
import { resources } from './resources.ts'
import { storage } from './storage.ts'
import { volumePrimary } from './volume-primary.ts'

/** A test case of a filter. A case without an expected refusal means that the node is accepted. */
type Row = [
  about: string,
  workload: Partial<Workload>,
  node: Partial<NodeFacts>,
  expected?: { code: string; required: Json; reported: Json },
]

function checkTable(filter: Filter, rows: readonly Row[], others: readonly NodeFacts[] = []): void {
  describe(filter.name, () => {
    test.each(rows)('%s', (_about, workload, parts, expected) => {
      const node = aNode(1, parts)
      const refusal = filter.refuse(aWorkload(workload), node, someFacts([node, ...others]))
      expectRefusal(filter, refusal, expected)
    })
  })
}

function expectRefusal(filter: Filter, refusal: ReturnType<Filter['refuse']>, expected: Row[3]): void {
  if (refusal === undefined || expected === undefined) {
    expect(refusal).toEqual(expected)
    return
  }
  expect(refusal).toEqual(expected)
  expect(Object.keys(filter.phrases)).toContain(refusal.code)
  expect(filter.retryOn.length).toBeGreaterThan(0)
  expect(RETRY_TRIGGERS).toEqual(expect.arrayContaining([...filter.retryOn]))
  const shown = { ...refusal, filter: filter.name, fix: '' }
  expect(decode(refusalShape, JSON.parse(JSON.stringify(shown)))).toEqual(shown)
}

test('the filters are those of the contract, in the order of the contract', () => {
  const names = PLACEMENT_FILTERS.map(({ name }) => name)
  expect(names).toEqual(FILTERS)
})

test('no two filters share a code', () => {
  const codes = PLACEMENT_FILTERS.flatMap(({ phrases }) => Object.keys(phrases))
  expect(codes).toEqual([...new Set(codes)])
  for (const code of codes) expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/)
})

test('filters that report a record fact are those whose refusals are news when the value changes', () => {
  const names = PLACEMENT_FILTERS.filter(({ reportsRecordFact }) => reportsRecordFact).map(({ name }) => name)
  expect(names).toEqual([
    'readiness',
    'engine',
    'disk_pressure',
    'cordon',
    'control_plane_node',
    'claims',
    'agent_version',
    'residency_enforcement',
    'residency_country',
    'residency_region',
    'blocked_country',
    'label_constraint',
  ])
})

test('an answer about one node or quota is not repeated for another', () => {
  const refused = (used: number, limit: number) =>
    createRefusalFinder(aWorkload(), someFacts([], used, limit))(aNode(1)).map(({ reported }) => reported)
  expect([refused(5, 5), refused(6, 5), refused(6, 6), refused(5, 5)]).toEqual([
    [{ free: 0, used: 5, limit: 5 }],
    [{ free: 0, used: 6, limit: 5 }],
    [{ free: 0, used: 6, limit: 6 }],
    [{ free: 0, used: 5, limit: 5 }],
  ])
  const constraints = [{ label: 'zone', operator: 'in' as const, values: ['a'] }]
  const refusalsOf = createRefusalFinder(aWorkload({ placement: { constraints } }), someFacts([]))
  const labelled = (name: string, labels: NodeFacts['labels']) => refusalsOf(aNode(1, { name, labels }))[0]
  const refusals = [labelled('n1', { zone: 'b' }), labelled('n2', { zone: 'b' }), labelled('n3', {})]
  expect(refusals.map((refusal) => refusal?.reported)).toEqual([{ zone: 'b' }, { zone: 'b' }, { zone: null }])
})

const notReady = (reported: Json) => ({ code: 'node_not_ready', required: 'ready', reported })
checkTable(readiness, [
  ['ready', {}, { status: 'ready' }],
  ['pending', {}, { status: 'pending' }, notReady('pending')],
  ['unreachable', {}, { status: 'unreachable' }, notReady('unreachable')],
  ['failed', {}, { status: 'failed' }, notReady('failed')],
])

const cordoned = { required: { schedulable: true }, reported: { schedulable: false } }
checkTable(engine, [
  ['with an engine that answers', {}, {}],
  ['degraded for another reason', {}, { faults: ['pool_changed'] }],
  [
    'with a silent engine',
    {},
    { faults: ['engine_silent', 'pool_changed'] },
    {
      ...{ code: 'engine_silent', required: 'answering', reported: 'silent' },
    },
  ],
])

checkTable(diskPressure, [
  ['with enough room', {}, {}],
  ['degraded for another reason', {}, { faults: ['engine_silent', 'pool_changed'] }],
  [
    'with a nearly full disk',
    {},
    { faults: ['engine_silent', 'disk_pressure'] },
    { code: 'disk_pressure', required: { diskPressure: false }, reported: { diskPressure: true } },
  ],
])

checkTable(cordon, [
  ['open', {}, { schedulable: true }],
  ['cordoned', {}, { schedulable: false }, { code: 'node_cordoned', ...cordoned }],
  [
    'cordoned, for the platform too',
    { ofPlatform: true },
    { schedulable: false },
    { code: 'node_cordoned', ...cordoned },
  ],
])

const ofControlPlane = { required: { controlPlane: false }, reported: { controlPlane: true } }
checkTable(controlPlaneNode, [
  ['a node of the tenant', {}, { controlPlane: false }],
  ['a tenant', {}, { controlPlane: true }, { code: 'control_plane_node', ...ofControlPlane }],
  [
    'a tenant that has a replica there already',
    {},
    { controlPlane: true, replicas: new Map([['web', 1]]) },
    { code: 'control_plane_node', ...ofControlPlane },
  ],
  [
    'a tenant that names it',
    { nodeId: nodeIdOf(1) },
    { controlPlane: true },
    { code: 'control_plane_node', ...ofControlPlane },
  ],
  ['the platform', { ofPlatform: true }, { controlPlane: true }],
  ['a replica that the node already has', { returnsTo: [aNode(1).id] }, { controlPlane: true }],
  [
    'a replica that another node has',
    { returnsTo: [aNode(2).id] },
    { controlPlane: true },
    { code: 'control_plane_node', ...ofControlPlane },
  ],
])

checkTable(claims, [
  ['one claim', {}, { claim: 'sole' }],
  [
    'its own is being released',
    {},
    { claim: 'releasing' },
    { code: 'node_claims_releasing', required: 'sole', reported: 'releasing' },
  ],
  [
    "another tenant's is being released",
    {},
    { claim: 'shared' },
    { code: 'node_claims_shared', required: 'sole', reported: 'shared' },
  ],
])

const NEW_AGENT = { version: '0.2.0', capabilities: ['limits', 'volumes'] }
const lacks = (required: string[], reported: string | null) => ({
  code: 'agent_lacks_capability',
  required,
  reported,
})
checkTable(agentVersion, [
  ['nothing needed, of an agent without capabilities', {}, { agent: { version: '0.1.0', capabilities: [] } }],
  ['all needed capabilities', { needs: ['volumes', 'limits'] }, { agent: NEW_AGENT }],
  [
    'one of two needed capabilities',
    { needs: ['limits', 'networks'] },
    { agent: NEW_AGENT },
    lacks(['networks'], '0.2.0'),
  ],
  [
    'a capability of 0.1.0, of an agent that states none',
    { needs: ['limits'] },
    { agent: { version: '0.1.0' } },
  ],
  [
    'a newer capability, of an agent that states none',
    { needs: ['limits', 'volumes'] },
    { agent: { version: '0.1.0' } },
    lacks(['volumes'], '0.1.0'),
  ],
  ['a newer capability, before the first session', { needs: ['volumes'] }, {}, lacks(['volumes'], null)],
  [
    'an empty list, although a replica runs there already',
    { needs: ['limits'] },
    { agent: { version: '0.1.0', capabilities: [] }, replicas: new Map([['web', 1]]) },
    lacks(['limits'], '0.1.0'),
  ],
])

checkTable(namedNode, [
  ['none named', {}, {}],
  ['this one', { nodeId: nodeIdOf(1) }, {}],
  [
    'another',
    { nodeId: nodeIdOf(2) },
    {},
    { code: 'not_the_named_node', required: nodeIdOf(2), reported: nodeIdOf(1) },
  ],
])

type Constraints = NonNullable<NonNullable<Workload['placement']>['constraints']>
const constrained = (...constraints: Constraints) => ({ placement: { constraints } })
const inAB: Constraints[number] = { label: 'zone', operator: 'in', values: ['a', 'b'] }
const notInAB: Constraints[number] = { label: 'zone', operator: 'notIn', values: ['a', 'b'] }
const exists: Constraints[number] = { label: 'zone', operator: 'exists' }
const notExists: Constraints[number] = { label: 'zone', operator: 'notExists' }
const mismatch = (required: Constraints, reported: { [label: string]: string | null }) => ({
  code: 'label_mismatch',
  required,
  reported,
})
checkTable(labelConstraint, [
  ['no placement', {}, {}],
  ['no constraints', constrained(), {}],
  ['in, last value', constrained(inAB), { labels: { zone: 'b' } }],
  ['in, other value', constrained(inAB), { labels: { zone: 'c' } }, mismatch([inAB], { zone: 'c' })],
  ['in, other case', constrained(inAB), { labels: { zone: 'A' } }, mismatch([inAB], { zone: 'A' })],
  ['in, absent', constrained(inAB), {}, mismatch([inAB], { zone: null })],
  [
    'in nothing',
    constrained({ ...inAB, values: [] }),
    { labels: { zone: '' } },
    mismatch([{ ...inAB, values: [] }], { zone: '' }),
  ],
  ['notIn, other value', constrained(notInAB), { labels: { zone: 'c' } }],
  ['notIn, absent', constrained(notInAB), {}],
  ['notIn, listed', constrained(notInAB), { labels: { zone: 'a' } }, mismatch([notInAB], { zone: 'a' })],
  ['exists, empty value', constrained(exists), { labels: { zone: '' } }],
  ['exists, absent', constrained(exists), { labels: { other: 'a' } }, mismatch([exists], { zone: null })],
  ['notExists, absent', constrained(notExists), {}],
  [
    'notExists, empty value',
    constrained(notExists),
    { labels: { zone: '' } },
    mismatch([notExists], { zone: '' }),
  ],
  [
    'a key that every object inherits',
    constrained({ label: 'constructor', operator: 'exists' }),
    {},
    mismatch([{ label: 'constructor', operator: 'exists' }], { constructor: null }),
  ],
  [
    'all must hold, and all that do not are reported',
    constrained({ label: 'disk', operator: 'exists' }, inAB, { label: 'gpu', operator: 'exists' }),
    { labels: { disk: 'ssd', zone: 'c' } },
    mismatch([inAB, { label: 'gpu', operator: 'exists' }], { zone: 'c', gpu: null }),
  ],
])

const near = (...names: string[]) => ({ placement: { affinity: names } })
const runs = (...names: string[]) => ({ replicas: new Map(names.map((name) => [name, 1])) })
const unmet = (required: string[], reported: string[]) => ({ code: 'affinity_unmet', required, reported })
checkTable(affinity, [
  ['none required', near(), {}],
  ['the required one runs here', near('db'), runs('db', 'other')],
  ['none runs here', near('db'), {}, unmet(['db'], [])],
  ['one of two runs here', near('db', 'cache'), runs('cache'), unmet(['db', 'cache'], ['cache'])],
  ['both run here', near('db', 'cache'), runs('cache', 'db')],
  ['itself, and it runs nowhere yet', near('web'), {}],
])
checkTable(
  affinity,
  [
    ['itself, and it runs elsewhere', near('web'), {}, unmet(['web'], [])],
    ['itself, and it runs here too', near('web'), runs('web')],
  ],
  [aNode(2, runs('web'))],
)

const away = (...names: string[]) => ({ placement: { antiAffinity: names } })
checkTable(antiAffinity, [
  ['none excluded', away(), runs('web', 'db')],
  ['the excluded one is elsewhere', away('db'), runs('web')],
  [
    'the excluded one is here',
    away('db'),
    { replicas: new Map([['db', 2]]) },
    { code: 'anti_affinity_conflict', required: { none: ['db'] }, reported: { db: 2 } },
  ],
  [
    'itself',
    away('db', 'web'),
    runs('web'),
    { code: 'anti_affinity_conflict', required: { none: ['db', 'web'] }, reported: { web: 1 } },
  ],
])

const asks = (cpuMillis: number, memoryBytes: number) => ({ resources: { cpuMillis, memoryBytes } })
/** A node with 300 of 1,000 millicores and 100 of 500 bytes free. */
const partly = {
  capacity: { cpuMillis: 1000, memoryBytes: 500 },
  requested: { cpuMillis: 700, memoryBytes: 400 },
}
const overcommitted = {
  capacity: { cpuMillis: 0, memoryBytes: 0 },
  requested: { cpuMillis: 5, memoryBytes: 5 },
}
const mounted = (primary: NodeFacts['id'] | null, parts: Partial<MountedVolume> = {}): Partial<Workload> => ({
  volumes: [{ id: 'vol_a', primary, copies: {}, isMoving: false, ...parts }],
})
const inGermany: DesiredResidency = { country: 'DE', enforced: true, regionCountries: [] }
const american = { labels: { 'holdfast.io/country': 'US', 'holdfast.io/geo-region': 'na' } }
const front = (nodeId: NodeFacts['id'] | null) => ({ name: 'front', nodeId })
const back = { name: 'back', nodeId: nodeIdOf(1) }
checkTable(creation, [
  ['no node that failed', {}, {}],
  ['another node that failed', { avoids: [{ nodeId: nodeIdOf(2), cause: 'no space' }] }, {}],
  [
    'the node that failed',
    {
      avoids: [
        { nodeId: nodeIdOf(2), cause: '' },
        { nodeId: nodeIdOf(1), cause: 'no space' },
      ],
    },
    {},
    {
      code: 'creation_failed',
      required: { created: true },
      reported: { created: false, cause: 'no space' },
    },
  ],
])
checkTable(networkNode, [
  ['no network', {}, {}],
  ['an empty list of networks', { networks: [] }, {}],
  ['the node of all networks', { networks: [front(nodeIdOf(1)), back] }, {}],
  [
    'a network on another node',
    { networks: [front(nodeIdOf(2)), back] },
    {},
    {
      code: 'not_the_network_node',
      required: [
        { network: 'front', nodeId: nodeIdOf(2) },
        { network: 'back', nodeId: nodeIdOf(1) },
      ],
      reported: null,
    },
  ],
  [
    'a network that is gone',
    { networks: [front(null)] },
    {},
    { code: 'network_missing', required: [{ network: 'front', nodeId: null }], reported: null },
  ],
])
checkTable(volumePrimary, [
  ['no volume', {}, {}],
  ['volumes in memory only', { volumes: [] }, {}],
  ['the node of the primary', mounted(nodeIdOf(1)), {}],
  [
    'another node',
    mounted(nodeIdOf(2)),
    {},
    {
      code: 'not_the_volume_primary',
      required: [{ volume: 'vol_a', primary: nodeIdOf(2) }],
      reported: { copy: null },
    },
  ],
  [
    'another node with a copy',
    mounted(nodeIdOf(2), { copies: { [nodeIdOf(1)]: 'lagging' } }),
    {},
    {
      code: 'not_the_volume_primary',
      required: [{ volume: 'vol_a', primary: nodeIdOf(2) }],
      reported: { copy: 'lagging' },
    },
  ],
  [
    'a volume without a primary',
    mounted(null),
    {},
    { code: 'volume_without_primary', required: [{ volume: 'vol_a', primary: null }], reported: null },
  ],
  [
    'a volume that is handed over',
    mounted(nodeIdOf(1), { isMoving: true }),
    {},
    {
      code: 'volume_handed_over',
      required: [{ volume: 'vol_a', primary: nodeIdOf(1) }],
      reported: null,
    },
  ],
  [
    'a primary that violates residency',
    { ...mounted(nodeIdOf(1)), residency: inGermany },
    american,
    {
      code: 'volume_primary_residency',
      required: { country: 'DE', region: null, blockedCountries: null },
      reported: { 'holdfast.io/country': 'US', 'holdfast.io/geo-region': 'na' },
    },
  ],
  [
    'residency that is not enforced',
    { ...mounted(nodeIdOf(1)), residency: { ...inGermany, enforced: false } },
    american,
  ],
])

const CHANGED = { pool: { poolBytes: 100, claimedBytes: 0, fault: 'pool_changed' } }
const UNUSABLE = {
  code: 'storage_pool_unusable',
  required: { fault: null },
  reported: { fault: 'pool_changed' },
}
checkTable(storage, [
  ['mounts a volume, full pool', mounted(nodeIdOf(1)), { pool: { poolBytes: 100, claimedBytes: 100 } }],
  [
    'mounts a volume, no pool',
    mounted(nodeIdOf(1)),
    {},
    { code: 'storage_pool_missing', required: { freeBytes: 0 }, reported: null },
  ],
  ['stores a volume, changed pool', { storageBytes: 1 }, CHANGED, UNUSABLE],
  ['mounts a volume, changed pool', mounted(nodeIdOf(1)), CHANGED, UNUSABLE],
  ['stores nothing, changed pool', {}, CHANGED],
  ['stores nothing, no pool', {}, {}],
  ['stores nothing, full pool', {}, { pool: { poolBytes: 100, claimedBytes: 100 } }],
  [
    'exactly the free space less the reserve',
    { storageBytes: 45 },
    { pool: { poolBytes: 100, claimedBytes: 50 } },
  ],
  [
    'one byte more',
    { storageBytes: 46 },
    { pool: { poolBytes: 100, claimedBytes: 50 } },
    {
      code: 'insufficient_storage',
      required: { freeBytes: 46 },
      reported: { freeBytes: 45, poolBytes: 100 },
    },
  ],
  [
    'no pool',
    { storageBytes: 1 },
    {},
    { code: 'storage_pool_missing', required: { freeBytes: 1 }, reported: null },
  ],
])

checkTable(resources, [
  ['exactly what is free', asks(300, 100), partly],
  ['nothing, of a full node', asks(0, 0), overcommitted],
  [
    'one millicore too many',
    asks(301, 100),
    partly,
    {
      code: 'insufficient_cpu',
      required: { cpuMillis: 301 },
      reported: { free: { cpuMillis: 300 }, capacity: { cpuMillis: 1000 } },
    },
  ],
  [
    'one byte too many',
    asks(300, 101),
    partly,
    {
      code: 'insufficient_memory',
      required: { memoryBytes: 101 },
      reported: { free: { memoryBytes: 100 }, capacity: { memoryBytes: 500 } },
    },
  ],
  [
    'both',
    asks(301, 101),
    partly,
    {
      code: 'insufficient_resources',
      required: { cpuMillis: 301, memoryBytes: 101 },
      reported: {
        free: { cpuMillis: 300, memoryBytes: 100 },
        capacity: { cpuMillis: 1000, memoryBytes: 500 },
      },
    },
  ],
  [
    'one millicore of an overcommitted node, without a memory request',
    asks(1, 0),
    overcommitted,
    {
      code: 'insufficient_cpu',
      required: { cpuMillis: 1 },
      reported: { free: { cpuMillis: -5 }, capacity: { cpuMillis: 0 } },
    },
  ],
])

describe('quota', () => {
  const reached = (free: number, used: number, limit: number) => ({
    code: 'containers_quota_reached',
    required: { containers: 1 },
    reported: { free, used, limit },
  })
  test.each([
    ['one is left', 499, 500, undefined],
    ['reached', 500, 500, reached(0, 500, 500)],
    ['lowered below what runs', 500, 400, reached(0, 500, 400)],
    ['none allowed', 0, 0, reached(0, 0, 0)],
  ] as const)('%s', (_about, used, limit, expected) => {
    const refusal = quota.refuse(aWorkload(), aNode(1), someFacts([], used, limit))
    expectRefusal(quota, refusal, expected)
  })
})

test('a refusal quotes only the first values of a long constraint', () => {
  const values = Array.from({ length: 64 }, (_, index) => `value-${index}`)
  const long = Array.from({ length: 64 }, (_, index) => `${index}`.padEnd(253, 'x'))
  const constraints = [
    { label: 'a', operator: 'in' as const, values },
    { label: 'b', operator: 'in' as const, values: long },
  ]
  const refusal = labelConstraint.refuse(aWorkload({ placement: { constraints } }), aNode(1), someFacts([]))
  expect(refusal?.required).toEqual([
    { label: 'a', operator: 'in', values: values.slice(0, 8), more: 56 },
    { label: 'b', operator: 'in', values: long.slice(0, 1), more: 63 },
  ])
  expect(JSON.stringify(refusal).length).toBeLessThan(1_500)
})

import { asTenantId, type JsonObject } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { type Row, summary } from '../admission/admission.fixture.ts'
import { DEFAULT_LIMITS, RESERVED_NAMES } from '../limits.ts'
import { nodeIdOf } from '../scheduling/scheduling.fixture.ts'
import { checkNetwork } from './check-network.ts'
import { chooseNetworkNode, type NetworkCandidate } from './choose-node.ts'

const TENANT = asTenantId('6f1c2f0e-af0a-4d7e-9b35-2f6f0c1d9a44')
const CONTEXT = { limits: DEFAULT_LIMITS, reservedNames: new Set(RESERVED_NAMES) }
const body = (parts: object): JsonObject => JSON.parse(JSON.stringify({ name: 'backend', ...parts }))
const unsupported = (field: string) => `network_option_unsupported_on_agent ${field}`
const labels = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`l${at}`, '']))

const ROWS: Row[] = [
  ['a name alone', {}],
  ['all fields', { driver: 'bridge', labels: { team: 'shop' }, internal: true, nodeId: 'node_1' }],
  ['null for absent fields', { driver: null, labels: null, internal: null, nodeId: null }],
  ['no name', { name: undefined }, 'name_required name'],
  ['an empty name', { name: '' }, 'name_required name'],
  ['a name of 63 characters', { name: 'a'.repeat(63) }],
  ['a name of 64 characters', { name: 'a'.repeat(64) }, 'deployment_name_too_long name'],
  ['a capital letter', { name: 'Backend' }, 'deployment_name_invalid name'],
  ['a reserved name', { name: 'etcd' }, 'reserved_infrastructure_name name'],
  [
    'the name that the network of the tenant has on the engine',
    { name: 'af0a-4d7e-9b35-2f6f0c1d9a44' },
    'reserved_infrastructure_name name',
  ],
  ['a number as name', { name: 5 }, 'field_type_invalid name'],
  ['the driver host', { driver: 'host' }, unsupported('driver')],
  ['the driver macvlan', { driver: 'macvlan' }, unsupported('driver')],
  ['a number as driver', { driver: 1 }, 'field_type_invalid driver'],
  ['64 labels', { labels: labels(64) }],
  ['65 labels', { labels: labels(65) }, 'list_too_long labels'],
  ['a label of the platform', { labels: { 'holdfast.io/x': 'y' } }, 'label_reserved labels["holdfast.io/x"]'],
  [
    'a residency label',
    { labels: { 'holdfast.io/country': 'DE' } },
    'label_reserved labels["holdfast.io/country"]',
  ],
  ['a label of Docker', { labels: { 'com.docker.x': 'y' } }, 'label_reserved labels["com.docker.x"]'],
  ['a label of a proxy in capitals', { labels: { 'Traefik.x': 'y' } }, 'label_reserved labels["Traefik.x"]'],
  ['an empty label key', { labels: { '': 'y' } }, 'field_type_invalid labels[""]'],
  ['a control character in a label', { labels: { a: '\n' } }, 'field_type_invalid labels.a'],
  ['a number as label', { labels: { a: 1 } }, 'field_type_invalid labels.a'],
  ['a text as internal', { internal: 'yes' }, 'field_type_invalid internal'],
  ['a number as nodeId', { nodeId: 1 }, 'field_type_invalid nodeId'],
  ['an option of the engine', { ipam: {} }, unsupported('ipam')],
  ['a field that only answers have', { phase: 'Ready' }, unsupported('phase')],
  ['an option that is null', { attachable: null }, unsupported('attachable')],
  [
    'several faults, unknown options first',
    { internal: 1, options: {}, name: 'B', ipv6: true },
    unsupported('options'),
    unsupported('ipv6'),
    'deployment_name_invalid name',
    'field_type_invalid internal',
  ],
]

test.each(ROWS)('a network with %s', (_about, parts, ...expected) => {
  const checked = checkNetwork(body(parts), TENANT, CONTEXT)
  expect(checked.ok ? [] : summary(checked.rejections)).toEqual(expected)
})

test('rejects a body that is no object', () => {
  const checked = checkNetwork([], TENANT, CONTEXT)
  expect(!checked.ok && summary(checked.rejections)).toEqual(['field_type_invalid '])
})

test('fills in and announces the defaults of a network', () => {
  const checked = checkNetwork(body({ labels: null }), TENANT, CONTEXT)
  const options = { name: 'backend', driver: 'bridge', labels: {}, internal: false }
  expect(checked).toMatchObject({ ok: true, value: { options, nodeId: undefined } })
  expect(checked.ok && checked.value.alterations.map(({ code, field, to }) => [code, field, to])).toEqual([
    ['default_applied', 'driver', 'bridge'],
    ['default_applied', 'labels', {}],
    ['default_applied', 'internal', false],
  ])
  const complete = checkNetwork(body({ driver: 'bridge', labels: {}, internal: true }), TENANT, CONTEXT)
  expect(complete.ok && complete.value.alterations).toEqual([])
})

const candidate = (number: number, parts: Partial<NetworkCandidate> = {}): NetworkCandidate => ({
  id: nodeIdOf(number),
  schedulable: true,
  controlPlane: false,
  ...parts,
})
const cordoned = candidate(2, { schedulable: false })
const platform = candidate(3, { controlPlane: true })

test.each([
  ['no node', undefined, [], 'network_node_candidates_unresolvable'],
  ['a node of no tenant', nodeIdOf(9), [], 'network_node_candidates_unresolvable'],
  ['only nodes that accept no work', undefined, [cordoned, platform], 'network_node_candidates_unresolvable'],
  ['a cordoned node', cordoned.id, [candidate(1), cordoned], 'network_node_not_a_candidate'],
  ['a control-plane node', platform.id, [candidate(1), platform], 'network_node_not_a_candidate'],
  ['an unknown node', 'acme-1', [candidate(1)], 'network_node_not_a_candidate'],
  ['one of two nodes', nodeIdOf(1), [candidate(1), candidate(4)], nodeIdOf(1)],
  ['none of two nodes', undefined, [candidate(1), candidate(4)], 'network_node_required'],
  ['the only node, named', nodeIdOf(1), [candidate(1)], nodeIdOf(1)],
  ['the only node that accepts work', undefined, [cordoned, candidate(1), platform], nodeIdOf(1)],
] as const)('a network that names %s', (_about, named, nodes, expected) => {
  const chosen = chooseNetworkNode(named, nodes)
  expect(chosen.ok ? chosen.nodeId : chosen.rejection.code).toBe(expected)
})

test('announces the chosen node and lists the nodes to choose from', () => {
  const chosen = chooseNetworkNode(undefined, [candidate(1)])
  expect(chosen.ok && chosen.alterations.map(({ code, field, to }) => [code, field, to])).toEqual([
    ['network_node_chosen', 'nodeId', nodeIdOf(1)],
  ])
  expect(chooseNetworkNode(nodeIdOf(1), [candidate(1)])).toMatchObject({ alterations: [] })
  const many = Array.from({ length: 12 }, (_, at) => candidate(at + 1))
  const refused = chooseNetworkNode(undefined, many)
  expect(!refused.ok && refused.rejection.expected).toMatch(/and others$/)
  expect(!refused.ok && refused.rejection.why).toContain('12')
})

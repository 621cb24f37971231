import type { JsonObject, VolumeCopy, VolumeSpec } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { type Row, summary } from '../admission/admission.fixture.ts'
import { nodeIdOf } from '../scheduling/scheduling.fixture.ts'
import { checkReplicaNode, checkVolume, checkVolumePatch, checkVolumeSize } from './check-volume.ts'
import { checkReplicas, checkResize, checkVolumeFacts, refusalOfVolume } from './volume-state.ts'

const MIB = 1024 ** 2
const TIB = 1024 ** 4
const NODE = 'node_01JCPZ0000000000000000000A'
const CONTEXT = { regions: new Set(['eu']) }

const body = (parts: object): JsonObject =>
  JSON.parse(
    JSON.stringify({ name: 'data', class: 'replicated', sizeBytes: 16 * MIB, replicas: 1, ...parts }),
  )

const invalid = (field: string) => `volume_spec_invalid ${field}`

const ROWS: Row[] = [
  ['the smallest', {}],
  ['all fields', { nodeId: NODE, residency: { country: 'DE', region: 'eu', blockedCountries: ['US'] } }],
  ['null for absent fields', { replicas: null, nodeId: null, residency: null }],
  ['an unknown field', { size: 1 }, 'field_unknown size'],
  ['a field that only answers have', { phase: 'Ready' }, 'field_unknown phase'],
  ['no name', { name: undefined }, 'name_required name'],
  ['an empty name', { name: '' }, 'name_required name'],
  ['a name of 63 characters', { name: 'a'.repeat(63) }],
  ['a name of 64 characters', { name: 'a'.repeat(64) }, invalid('name')],
  ['a capital letter', { name: 'Data' }, invalid('name')],
  ['a hyphen at the end', { name: 'data-' }, invalid('name')],
  ['a number as name', { name: 5 }, 'field_type_invalid name'],
  ['no class', { class: undefined }, invalid('class')],
  ['another class', { class: 'fast' }, invalid('class')],
  ['the class ephemeral', { class: 'ephemeral', replicas: 0 }],
  ['the class object', { class: 'object', replicas: 0 }],
  ['no size', { sizeBytes: undefined }, invalid('sizeBytes')],
  ['a byte less than 16 MiB', { sizeBytes: 16 * MIB - 1 }, invalid('sizeBytes')],
  ['16 TiB', { sizeBytes: 16 * TIB }],
  ['a byte more than 16 TiB', { sizeBytes: 16 * TIB + 1 }, invalid('sizeBytes')],
  ['half a byte', { sizeBytes: 16 * MIB + 0.5 }, 'field_type_invalid sizeBytes'],
  ['a size as text', { sizeBytes: '16Mi' }, 'field_type_invalid sizeBytes'],
  ['no copies', { replicas: 0 }],
  ['4 copies', { replicas: 4 }],
  ['5 copies', { replicas: 5 }, invalid('replicas')],
  ['-1 copies', { replicas: -1 }, invalid('replicas')],
  ['a copy of an ephemeral volume', { class: 'ephemeral' }, invalid('replicas')],
  ['a copy of an object volume', { class: 'object' }, invalid('replicas')],
  ['a name as nodeId', { nodeId: 'acme-1' }, invalid('nodeId')],
  ['a country in small letters', { residency: { country: 'de' } }, invalid('residency.country')],
  ['an empty region', { residency: { region: '' } }, invalid('residency.region')],
  [
    'a region of no platform',
    { residency: { region: 'mars' } },
    'residency_region_undeclared residency.region',
  ],
  [
    'a country blocked twice, and the demanded one blocked',
    { residency: { country: 'DE', blockedCountries: ['US', 'US', 'DE'] } },
    invalid('residency.blockedCountries[1]'),
    invalid('residency.blockedCountries[2]'),
  ],
  [
    '250 blocked countries',
    { residency: { blockedCountries: Array(250).fill('US') } },
    'list_too_long residency.blockedCountries',
  ],
  ['an unknown part of residency', { residency: { city: 'Bonn' } }, 'field_unknown residency.city'],
  [
    'several faults, in the order of the fields',
    { replicas: 9, color: 'red', class: 'fast', name: 'Data', sizeBytes: 1 },
    'field_unknown color',
    invalid('name'),
    invalid('class'),
    invalid('sizeBytes'),
    invalid('replicas'),
  ],
]

test.each(ROWS)('a volume with %s', (_about, parts, ...expected) => {
  const checked = checkVolume(body(parts), CONTEXT)
  expect(checked.ok ? [] : summary(checked.rejections)).toEqual(expected)
})

test('a body that is no object is rejected', () => {
  const checked = checkVolume([], CONTEXT)
  expect(!checked.ok && summary(checked.rejections)).toEqual(['field_type_invalid '])
})

test('an absent number of replicas becomes 0 and is announced', () => {
  const checked = checkVolume(body({ replicas: undefined, residency: null }), CONTEXT)
  expect(checked).toMatchObject({ ok: true, value: { spec: { replicas: 0 } } })
  expect(checked.ok && Object.keys(checked.value.spec)).not.toContain('residency')
  expect(checked.ok && checked.value.alterations.map(({ code, field, to }) => [code, field, to])).toEqual([
    ['default_applied', 'replicas', 0],
  ])
  const complete = checkVolume(body({}), CONTEXT)
  expect(complete.ok && complete.value.alterations).toEqual([])
})

test.each([
  ['a number of copies', checkVolumePatch, { replicas: 4 }, []],
  ['too many copies', checkVolumePatch, { replicas: 5 }, [invalid('replicas')]],
  ['no number of copies', checkVolumePatch, {}, [invalid('replicas')]],
  ['another field in a change', checkVolumePatch, { replicas: 1, name: 'x' }, ['field_unknown name']],
  ['a size', checkVolumeSize, { sizeBytes: 32 * MIB }, []],
  ['a size that is too small', checkVolumeSize, { sizeBytes: 1 }, [invalid('sizeBytes')]],
  ['no size', checkVolumeSize, {}, [invalid('sizeBytes')]],
  ['a node', checkReplicaNode, { node_id: NODE }, []],
  ['no node', checkReplicaNode, {}, ['replica_node_invalid node_id']],
  ['a number as node', checkReplicaNode, { node_id: 1 }, ['field_type_invalid node_id']],
] as const)('a change with %s', (_about, check, sent, expected) => {
  const checked = check(sent)
  expect(checked.ok ? [] : summary(checked.rejections)).toEqual(expected)
})

const spec: VolumeSpec = { name: 'data', class: 'replicated', sizeBytes: 100, replicas: 1 }

test.each([
  [{ isNameTaken: false, isNodeKnown: true }, []],
  [{ isNameTaken: true, isNodeKnown: true }, [invalid('name')]],
  [{ isNameTaken: true, isNodeKnown: false }, [invalid('name'), invalid('nodeId')]],
])('a new volume with the facts %o', (facts, expected) => {
  expect(summary(checkVolumeFacts(spec, facts))).toEqual(expected)
})

test.each([
  ['a larger size', 101, {}, []],
  ['the same size', 100, { usedBytes: 100 }, []],
  ['a larger size without room', 101, { withoutRoom: ['acme-1'] }, [invalid('sizeBytes')]],
  ['a smaller size without a measurement', 99, {}, [invalid('sizeBytes')]],
  ['the bytes in use and 5 %', 42, { usedBytes: 40 }, []],
  ['a byte less than that', 41, { usedBytes: 40 }, [invalid('sizeBytes')]],
  ['a volume that is not ready', 101, { phase: 'Degraded' }, ['volume_not_ready id']],
] as const)('a resize to %s', (_about, next, parts, expected) => {
  const facts = { phase: 'Ready', sizeBytes: 100, withoutRoom: [], usedBytes: null, ...parts }
  expect(summary(checkResize(next, facts))).toEqual(expected)
})

test('only the class replicated has copies', () => {
  const ephemeral: VolumeSpec = { ...spec, class: 'ephemeral' }
  expect(summary(checkReplicas(ephemeral, 1))).toEqual([invalid('replicas')])
  expect([checkReplicas(ephemeral, 0), checkReplicas(spec, 4)]).toEqual([[], []])
})

test('a further copy needs the class replicated, fewer than 4 replicas and a primary', () => {
  const copies: VolumeCopy[] = [{ nodeId: nodeIdOf(1), role: 'primary', state: 'seeding' }]
  expect(refusalOfVolume(spec, copies)).toBeUndefined()
  expect(refusalOfVolume({ ...spec, replicas: 3 }, copies)).toBeUndefined()
  expect(refusalOfVolume({ ...spec, replicas: 4 }, copies)).toContain('4 replicas')
  expect(refusalOfVolume({ ...spec, class: 'object' }, copies)).toContain('object')
  expect(refusalOfVolume(spec, [])).toContain('no primary')
})

import { expect, test } from 'vitest'
import { aBody, forCreate, type Row, summary } from '../admission.fixture.ts'
import { checkBody } from '../admit-body.ts'

const mount = { volume: 'vol_01JCPZ0000000000000000000A', target: '/data', type: 'volume', readOnly: false }

const ROWS: Row[] = [
  ['no volumes', { volumes: [] }],
  ['volumes null', { volumes: null }],
  ['volumes while they are off', { volumes: [mount] }, 'volume_binding_unavailable volumes'],
  ['volumes as an object', { volumes: {} }, 'field_type_invalid volumes'],
  ['a text as mount', { volumes: ['x'] }, 'field_type_invalid volumes[0]'],
  [
    'an empty mount',
    { volumes: [{}] },
    'volume_mount_shape volumes[0].volume',
    'volume_mount_shape volumes[0].target',
    'volume_mount_shape volumes[0].type',
  ],
  ['a name for an id', { volumes: [{ ...mount, volume: 'data' }] }, 'volume_mount_shape volumes[0].volume'],
  ['a number for an id', { volumes: [{ ...mount, volume: 5 }] }, 'volume_mount_shape volumes[0].volume'],
  ['a number for a target', { volumes: [{ ...mount, target: 5 }] }, 'volume_mount_shape volumes[0].target'],
  ['a number for a type', { volumes: [{ ...mount, type: 5 }] }, 'volume_mount_shape volumes[0].type'],
  ['a relative target', { volumes: [{ ...mount, target: 'data' }] }, 'volume_mount_shape volumes[0].target'],
  [
    'a target with ..',
    { volumes: [{ ...mount, target: '/a/../b' }] },
    'volume_mount_shape volumes[0].target',
  ],
  [
    'a target with a double slash',
    { volumes: [{ ...mount, target: '/a//b' }] },
    'volume_mount_shape volumes[0].target',
  ],
  ['the root as target', { volumes: [{ ...mount, target: '/' }] }, 'volume_mount_shape volumes[0].target'],
  ['another type', { volumes: [{ ...mount, type: 'nfs' }] }, 'volume_mount_shape volumes[0].type'],
  ['readOnly as text', { volumes: [{ ...mount, readOnly: 'no' }] }, 'volume_mount_shape volumes[0].readOnly'],
  ['an unknown key', { volumes: [{ ...mount, size: 5 }] }, 'volume_mount_shape volumes[0].size'],
  ['a target twice', { volumes: [mount, mount] }, 'volume_mount_shape volumes[1].target'],
  [
    '17 volumes',
    { volumes: Array.from({ length: 17 }, (_, i) => ({ ...mount, target: `/d${i}` })) },
    'list_too_long volumes',
  ],
]

test.each(ROWS)('rules of volumes: %s', (_about, parts, ...expected) => {
  expect(summary(checkBody(aBody(parts), forCreate()))).toEqual(expected)
})

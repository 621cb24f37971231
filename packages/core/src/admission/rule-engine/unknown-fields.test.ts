import { expect, test } from 'vitest'
import { aBody, forCreate, type Row, summary } from '../admission.fixture.ts'
import { checkBody } from '../admit-body.ts'

const check = { type: 'exec', command: ['curl -f localhost'] }
const mount = { volume: 'vol_01JCPZ0000000000000000000A', target: '/data', type: 'volume', readOnly: false }
const constraint = { label: 'disk', operator: 'in', values: ['ssd'] }

const ROWS: Row[] = [
  ['an unknown field', { priviliged: true }, 'field_unknown priviliged'],
  ['a null unknown field', { priviliged: null }, 'field_unknown priviliged'],
  [
    'nested',
    { healthCheck: { ...check, test: 1 }, update: { x: 1 } },
    'field_unknown healthCheck.test',
    'field_unknown update.x',
  ],
  [
    'in an element',
    { placement: { constraints: [constraint, { ...constraint, key: 1 }] } },
    'field_unknown placement.constraints[1].key',
  ],
  ['in a mount', { volumes: [{ ...mount, source: '/etc' }] }, 'volume_mount_shape volumes[0].source'],
  ['a prototype key', JSON.parse('{"__proto__": {"x": 1}}'), 'field_unknown __proto__'],
  [
    'read-only in a POST',
    { uid: 'x', revision: 1, status: {} },
    'field_read_only uid',
    'field_read_only revision',
    'field_read_only status',
  ],
  [
    'in a secret entry and its generate block',
    { secrets: [{ name: 'DB', vault_path: 'resources/db', key: 1, generate: { keys: ['a'], size: 1 } }] },
    'field_unknown secrets[0].key',
    'field_unknown secrets[0].generate.size',
  ],
  ['in a route', { routes: [{ host: 'a.example', port: 80, tls: true }] }, 'field_unknown routes[0].tls'],
  [
    'in residency',
    { placement: { residency: { country: 'DE', city: 'Bonn' } } },
    'field_unknown placement.residency.city',
  ],
  ['empty forms', { secrets: [], composedEnvironment: {}, placement: { residency: {} } }],
  ['null forms', { secrets: null, composedEnvironment: null, placement: null }],
]

test.each(ROWS)('unknown and read-only fields: %s', (_about, parts, ...expected) => {
  expect(summary(checkBody(aBody(parts), forCreate()))).toEqual(expected)
})

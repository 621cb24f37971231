import { expect, test } from 'vitest'
import { aBody, forCreate, type Row, summary } from '../admission.fixture.ts'
import { checkBody } from '../admit-body.ts'

const ROWS: Row[] = [
  ['the smallest body', {}],
  ['no name', { name: undefined }, 'name_required name'],
  ['a null name', { name: null }, 'name_required name'],
  ['an empty name', { name: '' }, 'name_required name'],
  ['a number as name', { name: 5 }, 'field_type_invalid name'],
  ['63 characters', { name: 'a'.repeat(63) }],
  ['64 characters', { name: 'a'.repeat(64) }, 'deployment_name_too_long name'],
  ['64 bad characters', { name: 'A'.repeat(64) }, 'deployment_name_too_long name'],
  ['one letter', { name: 'a' }],
  ['upper case', { name: 'Web' }, 'deployment_name_invalid name'],
  ['a digit first', { name: '1web' }, 'deployment_name_invalid name'],
  ['a hyphen last', { name: 'web-' }, 'deployment_name_invalid name'],
  ['a line feed last', { name: 'web\n' }, 'deployment_name_invalid name'],
  ['a reserved name', { name: 'etcd' }, 'reserved_infrastructure_name name'],
  ['another reserved name', { name: 'holdfast-etcd' }, 'reserved_infrastructure_name name'],
  ['a name that begins like a reserved one', { name: 'etcd-1' }],
  ['no image', { image: undefined }, 'image_required image'],
  ['a null image', { image: null }, 'image_required image'],
  ['an empty image', { image: '' }, 'image_required image'],
  ['no tag', { image: 'registry.example.com/web' }, 'image_required image'],
  ['latest', { image: 'registry.example.com/web:latest' }, 'image_required image'],
  ['outside the grammar', { image: 'registry.example.com/Web:1' }, 'image_required image'],
  [
    'latest with a digest',
    { image: `registry.example.com/web:latest@sha256:${'a'.repeat(64)}` },
    'image_required image',
  ],
  ['a digest', { image: `registry.example.com/web@sha256:${'a'.repeat(64)}` }],
  ['a list as image', { image: ['x'] }, 'field_type_invalid image'],
  ['another registry', { image: 'ghcr.io/web:1' }, 'registry_not_allowed image'],
  ['another port', { image: 'registry.example.com:5000/web:1' }, 'registry_not_allowed image'],
  ['replicas 0', { replicas: 0 }],
  ['replicas at the maximum', { replicas: 100 }],
  ['replicas above it', { replicas: 101 }, 'replicas_out_of_range replicas'],
  ['replicas far above it', { replicas: 1e20 }, 'replicas_out_of_range replicas'],
  ['replicas below 0', { replicas: -1 }, 'replicas_negative replicas'],
  ['half a replica', { replicas: 0.5 }, 'field_type_invalid replicas'],
  ['replicas as text', { replicas: '2' }, 'field_type_invalid replicas'],
  ['replicas null', { replicas: null }],
  ['secretsVersion 3', { secretsVersion: 3 }],
  ['secretsVersion below 0', { secretsVersion: -1 }, 'secrets_version_negative secretsVersion'],
  ['secretsVersion 1.5', { secretsVersion: 1.5 }, 'field_type_invalid secretsVersion'],
]

test.each(ROWS)('rules of name, image and replicas: %s', (_about, parts, ...expected) => {
  expect(summary(checkBody(aBody(parts), forCreate()))).toEqual(expected)
})

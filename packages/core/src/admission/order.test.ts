// Tests the order of rejections, which is public behavior (docs/design/admission.md#order).

import { describe, expect, test } from 'vitest'
import { aBody, forCreate, summary } from './admission.fixture.ts'
import { checkBody } from './admit-body.ts'

const judge = (parts: { [field: string]: unknown }, overrides = {}) =>
  summary(checkBody(aBody(parts), forCreate(overrides)))

test('reports five faults in the public order, in whatever order the fields were sent', () => {
  const parts = {
    stopGracePeriod: 'soon',
    replicas: -1,
    colour: 'red',
    image: 'ghcr.io/shop/web:1',
    healthCheck: { type: 'exec', command: ['x'], timeout: '1s' },
  }
  expect(judge(parts)).toEqual([
    'field_unknown colour',
    'replicas_negative replicas',
    'healthcheck_timeout_below_floor healthCheck.timeout',
    'field_type_invalid stopGracePeriod',
    'registry_not_allowed image',
  ])
})

test('reports faults of all fields in the order of the shape', () => {
  const wrong = {
    args: 1,
    command: 1,
    labels: 1,
    routes: 1,
    update: 1,
    composedEnvironment: 1,
    limits: 1,
    resources: 1,
    dependsOn: 1,
    placement: 1,
    volumes: 1,
    secretsVersion: 'x',
    secrets: 1,
    environment: 1,
    healthCheck: 1,
    nodeId: 1,
    replicas: 'x',
    image: 1,
    name: 1,
    stopGracePeriod: 1,
  }
  expect(judge(wrong).map((line) => line.split(' ')[1])).toEqual([
    'name',
    'image',
    'replicas',
    'nodeId',
    'healthCheck',
    'environment',
    'secrets',
    'secretsVersion',
    'volumes',
    'placement',
    'dependsOn',
    'resources',
    'limits',
    'composedEnvironment',
    'update',
    'routes',
    'labels',
    'command',
    'args',
    'stopGracePeriod',
  ])
})

test('orders elements by index, map keys as sent and inner fields as in the shape', () => {
  expect(
    judge({
      placement: { affinity: ['B!', 'ok', 'A!'], constraints: [{ operator: 'x', label: '!' }, {}] },
      environment: { 'b-': '', 'a-': '' },
    }),
  ).toEqual([
    'environment_key_invalid environment["b-"]',
    'environment_key_invalid environment["a-"]',
    'placement_invalid placement.constraints[0].label',
    'placement_invalid placement.constraints[0].operator',
    'placement_invalid placement.constraints[1].label',
    'placement_invalid placement.constraints[1].operator',
    'placement_invalid placement.affinity[0]',
    'placement_invalid placement.affinity[2]',
  ])
})

test('reports residency fields, then labels, then conflicts between them, then undeclared regions', () => {
  const residency = { blockedCountries: ['us', 'US'], region: 'moon', country: 'de' }
  const labels = { 'holdfast.io/data-residency-region': 'eu', 'holdfast.io/x': '' }
  expect(judge({ labels, placement: { spread: '', residency } })).toEqual([
    'placement_invalid placement.residency.country',
    'placement_invalid placement.residency.blockedCountries[0]',
    'placement_invalid placement.spread',
    'label_reserved labels["holdfast.io/x"]',
    'residency_declared_twice labels["holdfast.io/data-residency-region"]',
    'residency_region_undeclared placement.residency.region',
  ])
})

test('reports fields of a secret entry in the order of the shape, then conflicts between entries and with other fields', () => {
  const secrets = [
    { values: { 'a-': 'x', b: '' }, rotation: 'x', anchor: 'x', vault_path: '/x', name: '!' },
    {
      generate: { charset: 'x', length: 0, keys: [] },
      mount_path: '/x',
      vault_path: 'resources/db',
      name: 'B',
    },
    { name: 'B', vault_path: 'deployments/db', generate: { keys: ['a', 'a'] }, values: { a: 'x' } },
  ]
  expect(
    judge({ composedEnvironment: { A: '', 'B-': 'x' }, dependsOn: { web: 'healthy' }, secrets }),
  ).toEqual([
    'secret_name_invalid secrets[0].name',
    'secret_vault_path_not_relative secrets[0].vault_path',
    'secret_anchor_invalid secrets[0].anchor',
    'secret_rotation_unsupported secrets[0].rotation',
    'secret_key_invalid secrets[0].values["a-"]',
    'secret_value_empty secrets[0].values.b',
    'secret_mount_path_unsupported secrets[1].mount_path',
    'secret_generate_keys_required secrets[1].generate.keys',
    'secret_generate_charset_unknown secrets[1].generate.charset',
    'secret_compose_template_empty composedEnvironment.A',
    'environment_key_invalid composedEnvironment["B-"]',
    'secret_name_invalid secrets[2].name',
    'secret_path_namespace_split secrets[2].vault_path',
    'secret_generate_key_duplicate secrets[2].generate.keys[1]',
    'secret_key_provided_and_generated secrets[2].generate.keys[0]',
    'dependency_invalid dependsOn.web',
  ])
})

test('reports unknown and read-only fields in the order sent, nested ones at their position', () => {
  expect(judge({ z: 1, healthCheck: { b: 1, type: 'exec', command: ['x'], a: 1 }, uid: 'x', a: 1 })).toEqual([
    'field_unknown z',
    'field_unknown healthCheck.b',
    'field_unknown healthCheck.a',
    'field_read_only uid',
    'field_unknown a',
  ])
})

describe('order of neighboring phases', () => {
  const forbidden = { forbiddenFields: new Set(['environment']) }
  test.each<[string, { [field: string]: unknown }, string[], object?]>([
    [
      'role, then unknown',
      { zz: 1, environment: {} },
      ['permission_denied environment', 'field_unknown zz'],
      forbidden,
    ],
    [
      'material that the role may not send, then unknown',
      { zz: 1, secrets: [{ name: 'DB', vault_path: 'resources/db', values: { a: 'x' } }] },
      ['permission_denied secrets[0].values', 'field_unknown zz'],
      { materialForbidden: true },
    ],
    ['unknown, then field', { name: '!', zz: 1 }, ['field_unknown zz', 'deployment_name_invalid name']],
    ['read-only, then field', { name: '!', uid: 1 }, ['field_read_only uid', 'deployment_name_invalid name']],
    [
      'field, then across fields',
      { stopGracePeriod: 1, dependsOn: { web: 'healthy' } },
      ['field_type_invalid stopGracePeriod', 'dependency_invalid dependsOn.web'],
    ],
    [
      'across fields, then configuration',
      { image: 'ghcr.io/a:1', dependsOn: { web: 'healthy' } },
      ['dependency_invalid dependsOn.web', 'registry_not_allowed image'],
    ],
  ])('%s', (_about, parts, expected, overrides = {}) => {
    expect(judge(parts, overrides)).toEqual(expected)
  })
})

describe('reports only the first failing rule of a value', () => {
  test.each<[string, { [field: string]: unknown }, string]>([
    ['type before required', { name: [] }, 'field_type_invalid name'],
    ['length before form', { name: 'A'.repeat(64) }, 'deployment_name_too_long name'],
    [
      'form before range',
      { environment: { 'PASSWORD-1': 'hunter22' } },
      'environment_key_invalid environment["PASSWORD-1"]',
    ],
    ['type before form', { environment: { 'A-1': 1 } }, 'field_type_invalid environment["A-1"]'],
    ['form before reserved', { labels: { 'caddy ': 'x' } }, 'field_type_invalid labels["caddy "]'],
  ])('%s', (_about, parts, expected) => {
    expect(judge(parts)).toEqual([expected])
  })
})

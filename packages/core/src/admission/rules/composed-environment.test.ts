import { expect, test } from 'vitest'
import { aBody, aRecord, forCreate, forUpdate, summary } from '../admission.fixture.ts'
import { checkBody } from '../admit-body.ts'

const secrets = [{ name: 'DB', vault_path: 'resources/orders-db' }]
const judge = (composedEnvironment: unknown, parts = {}) =>
  checkBody(aBody({ secrets, composedEnvironment, ...parts }), forCreate())

test.each<[string, string?]>([
  ['{{secret.orders-db.password}}'],
  ['postgres://app:{{secret.orders-db.password}}@db:5432/{{secret.orders-db.name}}?x={y}'],
  ['{{{secret.orders-db.password}}}'],
  ['', 'secret_compose_template_empty'],
  [' \t\n', 'secret_compose_template_empty'],
  ['{{', 'secret_compose_template_malformed'],
  ['a }} b', 'secret_compose_template_malformed'],
  ['{{secret.orders-db.password}', 'secret_compose_template_malformed'],
  ['{{ secret.orders-db.password }}', 'secret_compose_template_malformed'],
  ['{{secret.Orders.password}}', 'secret_compose_template_malformed'],
  ['{{secret.orders-db.pass-word}}', 'secret_compose_template_malformed'],
  ['{{secret.orders-db.}}', 'secret_compose_template_malformed'],
  ['{{secret.orders-db}}', 'secret_compose_template_malformed'],
  ['{{orders-db.password}}', 'secret_compose_template_malformed'],
  ['{{secret.-a.b}}', 'secret_compose_template_malformed'],
  [`{{secret.${'a'.repeat(64)}.b}}`, 'secret_compose_template_malformed'],
  ['{{secret.orders-db.password}} {{other}}', 'secret_compose_template_malformed'],
  ['{{secret.__proto__.x}}', 'secret_compose_template_malformed'],
  ['constant', 'secret_compose_no_reference'],
  ['{secret.orders-db.password}', 'secret_compose_no_reference'],
  ['{{secret.db.password}}', 'secret_compose_resource_undeclared'],
  ['{{secret.orders-db.a}}{{secret.constructor.b}}', 'secret_compose_resource_undeclared'],
  ['\0{{secret.orders-db.password}}', 'field_type_invalid'],
])('%j: %s', (template, code) => {
  const expected = code === undefined ? [] : [`${code} composedEnvironment.URL`]
  expect(summary(judge({ URL: template }))).toEqual(expected)
})

test('checks the form and number of composed variables', () => {
  expect(summary(judge({ 'A-B': 'constant' }))).toEqual([
    'environment_key_invalid composedEnvironment["A-B"]',
  ])
  expect(summary(judge([]))).toEqual(['field_type_invalid composedEnvironment'])
  expect(summary(judge({ A: 5 }))).toEqual(['field_type_invalid composedEnvironment.A'])
  expect(judge({})).toEqual([])
  expect(judge(null)).toEqual([])
  const many = Object.fromEntries(Array.from({ length: 1025 }, (_, n) => [`V${n}`, '{{secret.orders-db.a}}']))
  expect(summary(judge(many))).toEqual(['list_too_long composedEnvironment'])
})

test('limits the size of constants and templates together', () => {
  const half = 'x'.repeat(128 * 1024)
  const template = `{{secret.orders-db.a}}${half}`
  expect(summary(judge({ A: template }, { environment: { B: half } }))).toEqual([
    'environment_too_large composedEnvironment',
  ])
  expect(judge({ A: template }, { environment: { B: 'x' } })).toEqual([])
})

test('a rejection lists the declared labels, never the template', () => {
  const [rejection] = judge({ A: 'hunter2{{secret.db.password}}' })
  expect(rejection?.expected).toContain('orders-db')
  expect(rejection?.received).toBe('<redacted string, 29 bytes>')
})

test('rejects an update that removes an entry which a template uses', () => {
  const record = aRecord(aBody({ secrets, composedEnvironment: { URL: '{{secret.orders-db.a}}' } }))
  const judged = (sent: object) => summary(checkBody(JSON.parse(JSON.stringify(sent)), forUpdate(record)))
  expect(judged({ secrets: [] })).toEqual(['secret_compose_resource_undeclared composedEnvironment.URL'])
  expect(judged({ secrets: [], composedEnvironment: null })).toEqual([])
})

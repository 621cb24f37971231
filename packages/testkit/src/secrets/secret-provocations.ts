// Requests that raise the error codes of PUT, PATCH and DELETE /api/v1/secrets/{namespace}/{resource}.

import type { Code } from '@holdfast/contract'
import type { Provocation, World } from '../provocations/provoke.ts'

const SECRETS = '/api/v1/secrets'
const ROTATE = '/api/v1/deployments/web/secrets/rotate'
const ONE = `${SECRETS}/resources/t`
const VALUES = { values: { a: 'b' } }

interface WriteFault {
  readonly code: Code
  readonly field: string
  readonly path: string
  readonly body: object
}

const badPath = (code: Code, field: string, path: string): WriteFault => ({
  code,
  field,
  path: `${SECRETS}/${path}`,
  body: VALUES,
})
const badBody = (code: Code, field: string, body: object): WriteFault => ({ code, field, path: ONE, body })
const badPlan = (code: Code, field: string, plan: object): WriteFault =>
  badBody(code, `generate.${field}`, { generate: { keys: ['a'], ...plan } })

const long = (bytes: number): string => 'x'.repeat(bytes)
const nineValues = Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`k${n}`, long(65_000)]))

/** Invalid request bodies with one fault each, which the server detects without reading the secrets store. */
export const SECRET_WRITE_FAULTS: readonly WriteFault[] = [
  badPath('secret_path_shape', 'resource', 'resources/a%2Fb'),
  badPath('secret_path_shape', 'resource', 'resources/a%2f..%2fb'),
  badPath('secret_path_namespace', 'namespace', 'registries/a'),
  badPath('secret_path_namespace', 'namespace', 'elsewhere/a'),
  badPath('secret_path_name', 'resource', 'resources/Orders_DB'),
  badPath('secret_path_name', 'resource', `resources/${long(64)}`),
  badPath('secret_path_name', 'resource', 'resources/-a'),
  badBody('secret_write_empty', 'values', {}),
  badBody('secret_write_empty', 'values', { values: {} }),
  badBody('field_unknown', 'value', { value: { a: 'b' }, ...VALUES }),
  badBody('field_type_invalid', 'values.a', { values: { a: 1 } }),
  badBody('secret_key_invalid', 'values["a b"]', { values: { 'a b': 'c' } }),
  badBody('secret_value_empty', 'values.a', { values: { a: '' } }),
  badBody('secret_value_too_long', 'values.a', { values: { a: long(65_537) } }),
  badBody('secret_value_too_long', 'values', { values: nineValues }),
  badPlan('secret_generate_keys_required', 'keys', { keys: [] }),
  badPlan('secret_key_invalid', 'keys[0]', { keys: ['a-b'] }),
  badPlan('secret_generate_key_duplicate', 'keys[1]', { keys: ['a', 'a'] }),
  badBody('secret_key_provided_and_generated', 'generate.keys[0]', { ...VALUES, generate: { keys: ['a'] } }),
  badBody('secret_generate_axis_conflict', 'generate', { generate: { keys: ['a'], bytes: 32, length: 32 } }),
  badPlan('secret_generate_bytes_out_of_range', 'bytes', { bytes: 8 }),
  badPlan('secret_generate_encoding_unknown', 'encoding', { encoding: 'rot13' }),
  badPlan('secret_generate_length_out_of_range', 'length', { length: 5000 }),
  badPlan('secret_generate_below_entropy_floor', 'length', { length: 8 }),
  badPlan('secret_generate_charset_unknown', 'charset', { charset: 'emoji' }),
]

const [HELD, HOLDER] = ['held-secret', 'holds-a-secret']

/** Creates a secret that a deployment refers to, which some of the requests need. */
export async function prepareSecrets({ platform }: World): Promise<void> {
  const api = platform.api(platform.acme.token)
  const written = await api.put(`${SECRETS}/resources/${HELD}`, VALUES)
  const held = await api.post('/api/v1/deployments', {
    kind: 'Deployment',
    name: HOLDER,
    image: platform.image,
    replicas: 0,
    secrets: [{ name: 'S', vault_path: `resources/${HELD}`, anchor: 'external' }],
  })
  const staged = await api.post(`/api/v1/deployments/${HOLDER}/secrets/rotate`, { phase: 'stage', ...VALUES })
  const statuses = [written, held, staged].map(({ status }) => status)
  if (statuses.join() !== '200,201,200') throw new Error(`${written.text} ${held.text} ${staged.text}`)
}

export const SECRET_PROVOCATIONS: readonly Provocation[] = [
  ...SECRET_WRITE_FAULTS.map(({ code, field, path, body }) => ({
    code,
    field,
    sent: () => ({ method: 'PUT', path, body }),
  })),
  {
    code: 'secret_path_namespace_split',
    field: 'namespace',
    sent: () => ({ method: 'PUT', path: `${SECRETS}/deployments/${HELD}`, body: VALUES }),
  },
  {
    code: 'secret_in_use',
    field: 'resource',
    sent: () => ({ method: 'DELETE', path: `${SECRETS}/resources/${HELD}` }),
  },
  {
    code: 'secret_patch_base_missing',
    field: 'values',
    sent: () => ({ method: 'PATCH', path: `${SECRETS}/resources/${HELD}`, body: VALUES }),
  },
  { code: 'secret_not_found', field: 'resource', sent: () => ({ method: 'DELETE', path: ONE }) },
  {
    code: 'rotation_transition_invalid',
    field: 'phase',
    sent: () => ({ path: ROTATE, body: { phase: 'retire' } }),
  },
  {
    code: 'secret_name_invalid',
    field: 'secret',
    sent: () => ({ path: ROTATE, body: { phase: 'stage', secret: 'ABSENT' } }),
  },
  {
    code: 'permission_denied',
    field: 'Authorization',
    sent: () => ({ as: 'developer', method: 'PUT', path: ONE, body: VALUES }),
  },
]

// Requests that raise the error codes of secrets in a deployment body.

import type { Code } from '@holdfast/contract'
import { bodyWith, type Provocation } from './provoke.ts'

type Parts = { readonly [field: string]: unknown }

const VOLUME = 'vol_01JD0000000000000000000000'

/** A valid secret reference of a deployment body, with parts replaced. */
const entry = (parts: Parts = {}): Parts => ({ name: 'DB', vault_path: 'deployments/db', ...parts })

const fault = (code: Code, field: string, parts: Parts, codes?: readonly Code[]): Provocation => ({
  code,
  field,
  sent: (world) => ({ body: bodyWith(world, parts) }),
  ...(codes === undefined ? {} : { codes }),
})
/** A request with one fault in the only secret reference of its deployment body. */
const inEntry = (code: Code, field: string, parts: Parts): Provocation =>
  fault(code, `secrets[0].${field}`, { secrets: [entry(parts)] })
const inBlock = (code: Code, field: string, block: Parts): Provocation =>
  inEntry(code, `generate${field}`, { generate: { keys: ['password'], ...block } })

const entries: readonly Provocation[] = [
  inEntry('secret_name_invalid', 'name', { name: 'orders-db' }),
  inEntry('secret_name_invalid', 'name', { name: undefined }),
  fault('secret_name_invalid', 'secrets[1].name', { secrets: [entry(), entry()] }),
  inEntry('secret_vault_path_required', 'vault_path', { vault_path: undefined }),
  inEntry('secret_vault_path_required', 'vault_path', { vault_path: '' }),
  inEntry('secret_vault_path_not_relative', 'vault_path', { vault_path: '/deployments/db' }),
  inEntry('secret_vault_path_not_relative', 'vault_path', { vault_path: 'deployments/../db' }),
  inEntry('secret_path_shape', 'vault_path', { vault_path: 'db' }),
  inEntry('secret_path_shape', 'vault_path', { vault_path: 'deployments/a/b' }),
  inEntry('secret_path_namespace', 'vault_path', { vault_path: 'registries/db' }),
  inEntry('secret_path_name', 'vault_path', { vault_path: 'deployments/Db' }),
  fault('secret_path_namespace_split', 'secrets[1].vault_path', {
    secrets: [entry(), entry({ name: 'B', vault_path: 'resources/db' })],
  }),
  inEntry('secret_anchor_invalid', 'anchor', { anchor: 'volume' }),
  inEntry('secret_anchor_volume_not_declared', 'anchor', { anchor: `volume(${VOLUME})` }),
  fault(
    'secret_anchor_volume_ephemeral',
    'secrets[0].anchor',
    {
      secrets: [entry({ anchor: `volume(${VOLUME})` })],
      volumes: [{ volume: VOLUME, target: '/tmp/x', type: 'tmpfs' }],
    },
    ['secret_anchor_volume_ephemeral', 'volume_binding_unavailable'],
  ),
  inEntry('secret_rotation_unsupported', 'rotation', { rotation: 'reload' }),
  inEntry('secret_mount_path_unsupported', 'mount_path', { mount_path: '/run/secrets/db' }),
  inEntry('field_unknown', 'key', { key: 'password' }),
  inEntry('field_type_invalid', 'anchor', { anchor: 1 }),
  fault('list_too_long', 'secrets', {
    secrets: Array.from({ length: 33 }, (_, n) => entry({ name: `N${n}`, vault_path: `deployments/n${n}` })),
  }),
]

const material: readonly Provocation[] = [
  inEntry('secret_write_empty', 'values', { values: {} }),
  inEntry('secret_value_empty', 'values.password', { values: { password: '' } }),
  inEntry('secret_value_too_long', 'values.password', { values: { password: 'x'.repeat(65_537) } }),
  inEntry('secret_value_too_long', 'values', {
    values: Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`k${n}`, 'x'.repeat(65_000)])),
  }),
  inEntry('secret_key_invalid', 'values["api-key"]', { values: { 'api-key': 'x' } }),
  inEntry('secret_key_invalid', 'generate.keys[1]', { generate: { keys: ['a', '1st'] } }),
  inEntry('secret_generate_keys_required', 'generate.keys', { generate: {} }),
  inEntry('secret_generate_keys_required', 'generate.keys', { generate: { keys: [] } }),
  inEntry('secret_generate_key_duplicate', 'generate.keys[1]', { generate: { keys: ['a', 'a'] } }),
  inEntry('secret_key_provided_and_generated', 'generate.keys[0]', {
    values: { a: 'x' },
    generate: { keys: ['a'] },
  }),
  inBlock('secret_generate_axis_conflict', '', { bytes: 32, charset: 'ascii' }),
  inBlock('secret_generate_bytes_out_of_range', '.bytes', { bytes: 15 }),
  inBlock('secret_generate_bytes_out_of_range', '.bytes', { bytes: 2049, encoding: 'hex' }),
  inBlock('secret_generate_encoding_unknown', '.encoding', { encoding: 'base32' }),
  inBlock('secret_generate_length_out_of_range', '.length', { length: 0 }),
  inBlock('secret_generate_length_out_of_range', '.length', { length: 4097 }),
  inBlock('secret_generate_below_entropy_floor', '.length', { length: 21 }),
  inBlock('secret_generate_charset_unknown', '.charset', { charset: 'emoji' }),
  {
    code: 'permission_denied',
    field: 'secrets[0].values',
    sent: (world) => ({
      as: 'developer',
      method: 'POST',
      body: bodyWith(world, { secrets: [entry({ values: { password: 'x' } })] }),
    }),
  },
  {
    code: 'permission_denied',
    field: 'secrets[0].generate',
    sent: (world) => ({
      as: 'developer',
      method: 'POST',
      body: bodyWith(world, { secrets: [entry({ generate: { keys: ['password'] } })] }),
    }),
  },
]

const composed = (template: string, parts: Parts = {}): Parts => ({
  secrets: [entry()],
  composedEnvironment: { URL: template },
  ...parts,
})

const variables: readonly Provocation[] = [
  fault('secret_compose_template_empty', 'composedEnvironment.URL', composed(' ')),
  fault('secret_compose_template_malformed', 'composedEnvironment.URL', composed('{{ secret.db.url }}')),
  fault('secret_compose_no_reference', 'composedEnvironment.URL', composed('postgres://db')),
  fault('secret_compose_resource_undeclared', 'composedEnvironment.URL', composed('{{secret.other.url}}')),
  fault('environment_key_invalid', 'composedEnvironment["a-b"]', {
    secrets: [entry()],
    composedEnvironment: { 'a-b': '{{secret.db.url}}' },
  }),
  fault(
    'environment_key_conflict',
    'environment.URL',
    composed('{{secret.db.url}}', { environment: { URL: '' } }),
  ),
  fault('environment_key_conflict', 'environment.DB_url_NEXT', {
    secrets: [entry()],
    environment: { DB_url_NEXT: '' },
  }),
  fault('environment_key_conflict', 'secrets[1].name', {
    secrets: [
      entry({ values: { X_Y: 'x' } }),
      entry({ name: 'DB_X', vault_path: 'deployments/x', values: { Y: 'y' } }),
    ],
  }),
]

export const SECRET_BODY_PROVOCATIONS: readonly Provocation[] = [...entries, ...material, ...variables]

// Examples of the codes that reject secrets: in a manifest, and in a write of its own.

import type { Json } from '../../json/json.ts'
import { type CodeExample, inManifest, manifest } from './example.ts'

type Fields = { readonly [field: string]: Json | undefined }

const entry = (fields: Fields = {}): Json =>
  JSON.parse(JSON.stringify({ name: 'DB', vault_path: 'deployments/shop', ...fields }))
const secret = (fields: Fields = {}): Fields => ({ secrets: [entry(fields)] })
const inEntry = (field: string, fails: Fields, passes: Fields = {}): CodeExample =>
  inManifest(`secrets[0].${field}`, secret(fails), secret(passes))
const generate = (fields: Fields): Fields =>
  secret({ generate: JSON.parse(JSON.stringify({ keys: ['password'], ...fields })) })
const inGenerate = (field: string, fails: Fields, passes: Fields): CodeExample =>
  inManifest(`secrets[0].generate${field}`, generate(fails), generate(passes))
const composed = (template: string): Fields => ({
  ...secret(),
  composedEnvironment: { DATABASE_URL: template },
})
const GOOD_TEMPLATE = composed('postgres://shop:{{secret.shop.password}}@database:5432/shop')
const inTemplate = (template: string): CodeExample =>
  inManifest('composedEnvironment.DATABASE_URL', composed(template), GOOD_TEMPLATE)
const VOLUME = 'vol_01JD0000000000000000000000'

const entries = {
  secret_name_invalid: inEntry('name', { name: 'shop-db' }),
  secret_vault_path_required: inEntry('vault_path', { vault_path: undefined }),
  secret_vault_path_not_relative: inEntry('vault_path', { vault_path: '/deployments/shop' }),
  secret_path_shape: inEntry('vault_path', { vault_path: 'shop' }),
  secret_path_namespace: inEntry('vault_path', { vault_path: 'elsewhere/shop' }),
  secret_path_name: inEntry('vault_path', { vault_path: 'deployments/Shop' }),
  secret_path_namespace_split: inManifest(
    'secrets[1].vault_path',
    { secrets: [entry(), entry({ name: 'CACHE', vault_path: 'resources/shop' })] },
    { secrets: [entry(), entry({ name: 'CACHE', vault_path: 'resources/cache' })] },
  ),
  secret_anchor_invalid: inEntry('anchor', { anchor: 'disk' }, { anchor: 'process' }),
  secret_anchor_volume_not_declared: inEntry(
    'anchor',
    { anchor: `volume(${VOLUME})` },
    { anchor: 'process' },
  ),
  secret_anchor_volume_ephemeral: inManifest(
    'secrets[0].anchor',
    {
      ...secret({ anchor: `volume(${VOLUME})` }),
      volumes: [{ volume: VOLUME, target: '/scratch', type: 'tmpfs' }],
    },
    secret({ anchor: 'process' }),
  ),
  secret_rotation_unsupported: inEntry('rotation', { rotation: 'reload' }, { rotation: 'restart' }),
  secret_mount_path_unsupported: inEntry('mount_path', { mount_path: '/run/secrets/db' }),
} satisfies { [code: string]: CodeExample }

const material = {
  secret_write_empty: inEntry('values', { values: {} }, { values: { password: 'example' } }),
  secret_value_empty: inEntry(
    'values.password',
    { values: { password: '' } },
    { values: { password: 'example' } },
  ),
  secret_value_too_long: inEntry(
    'values.certificate',
    { values: { certificate: 'x'.repeat(65_537) } },
    { values: { certificate: 'x' } },
  ),
  secret_key_invalid: inEntry(
    'values["api-key"]',
    { values: { 'api-key': 'example' } },
    { values: { api_key: 'example' } },
  ),
  secret_generate_keys_required: inGenerate('.keys', { keys: [] }, {}),
  secret_generate_key_duplicate: inGenerate(
    '.keys[1]',
    { keys: ['password', 'password'] },
    { keys: ['password', 'replica_password'] },
  ),
  secret_key_provided_and_generated: inManifest(
    'secrets[0].generate.keys[0]',
    secret({ values: { password: 'example' }, generate: { keys: ['password'] } }),
    secret({ values: { user: 'shop' }, generate: { keys: ['password'] } }),
  ),
  secret_generate_axis_conflict: inGenerate('', { bytes: 32, charset: 'ascii' }, { bytes: 32 }),
  secret_generate_bytes_out_of_range: inGenerate('.bytes', { bytes: 8 }, { bytes: 32 }),
  secret_generate_encoding_unknown: inGenerate('.encoding', { encoding: 'base32' }, { encoding: 'hex' }),
  secret_generate_length_out_of_range: inGenerate('.length', { length: 5000 }, { length: 40 }),
  secret_generate_below_entropy_floor: inGenerate('.length', { length: 8 }, { length: 40 }),
  secret_generate_charset_unknown: inGenerate('.charset', { charset: 'emoji' }, { charset: 'urlsafe' }),
} satisfies { [code: string]: CodeExample }

const templates = {
  secret_compose_template_empty: inTemplate(' '),
  secret_compose_template_malformed: inTemplate('postgres://shop:{{ secret.shop.password }}@database'),
  secret_compose_no_reference: inTemplate('postgres://database:5432/shop'),
  secret_compose_resource_undeclared: inTemplate('postgres://shop:{{secret.orders.password}}@database'),
  environment_key_conflict: inManifest(
    'environment.DATABASE_URL',
    { ...GOOD_TEMPLATE, environment: { DATABASE_URL: 'unset' } },
    GOOD_TEMPLATE,
  ),
} satisfies { [code: string]: CodeExample }

const DATABASE = '/api/v1/secrets/resources/orders-db'
const ROTATE = '/api/v1/deployments/orders/secrets/rotate'
const ANCHORED = { name: 'DB', vault_path: 'resources/db', anchor: `volume(${VOLUME})` }
const CHANGE = { method: 'PUT', path: '/api/v1/deployments/shop' } as const
const WITH_ANCHOR = `The deployment shop has the secret DB at resources/db with the anchor volume(${VOLUME}).`

const stored = {
  secret_not_found: {
    field: 'resource',
    fails: { method: 'DELETE', path: '/api/v1/secrets/resources/absent' },
    passes: { method: 'DELETE', path: '/api/v1/secrets/resources/unused' },
    given: 'The secret resources/unused exists, and no deployment refers to it.',
    params: {},
  },
  secret_in_use: {
    field: 'resource',
    fails: { method: 'DELETE', path: DATABASE },
    passes: { method: 'DELETE', path: '/api/v1/secrets/resources/unused' },
    given: 'The deployment orders refers to resources/orders-db; no deployment refers to resources/unused.',
    params: { consumers: 'orders' },
  },
  secret_patch_base_missing: {
    field: 'values',
    fails: {
      method: 'PATCH',
      path: '/api/v1/secrets/resources/payments-db',
      body: { values: { user: 'payments' } },
    },
    passes: {
      method: 'PATCH',
      path: '/api/v1/secrets/resources/unused',
      body: { values: { user: 'payments' } },
    },
    given: 'A rotation has staged version 2 of resources/payments-db; resources/unused is not being rotated.',
    params: { base: 1, newest: 2, cause: 'a rotation has staged it' },
  },
  rotation_transition_invalid: {
    field: 'phase',
    fails: { method: 'POST', path: ROTATE, body: { phase: 'retire' } },
    passes: { method: 'POST', path: ROTATE, body: { phase: 'stage', generate: { keys: ['password'] } } },
    given: 'The secret of the deployment orders is not being rotated.',
    params: { accepted: 'DB: stage', current: 'idle' },
  },
  anchored_secret_dropped: {
    field: 'secrets',
    fails: { ...CHANGE, body: { secrets: [] } },
    passes: { ...CHANGE, body: { secrets: [ANCHORED] } },
    given: WITH_ANCHOR,
    params: { name: 'DB', volume: VOLUME },
  },
  anchored_secret_repointed: {
    field: 'secrets[0].vault_path',
    fails: { ...CHANGE, body: { secrets: [{ ...ANCHORED, vault_path: 'resources/other' }] } },
    passes: { ...CHANGE, body: { secrets: [ANCHORED] } },
    given: WITH_ANCHOR,
    params: { name: 'DB', volume: VOLUME, path: 'resources/db' },
  },
  registry_credential_store_unavailable: {
    field: 'image',
    fails: { method: 'POST', path: '/api/v1/deployments', body: manifest() },
    given: 'The registry needs a credential, and the secrets store is sealed.',
    params: {},
  },
  secrets_store_unavailable: {
    field: 'secretsStore',
    fails: {
      method: 'PUT',
      path: '/api/v1/registries/registry.example.com/credential',
      body: { username: 'puller', password: 'example' },
    },
    given: 'The secrets store is sealed or cannot be reached.',
    params: {},
  },
} satisfies { [code: string]: CodeExample }

export const secretExamples = { ...entries, ...material, ...templates, ...stored }

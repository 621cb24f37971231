// The endpoints below /api/v1/secrets: secret values can be written but never read.

import {
  type Code,
  secretConsumerShape,
  secretReferenceShape,
  secretShape,
  secretWriteShape,
  secretWrittenShape,
} from '@holdfast/contract'
import { deleteSecret } from '../../operations/secrets/delete-secret.ts'
import { listConsumers, listReferences, listSecrets } from '../../operations/secrets/read-secrets.ts'
import { type WriteSecretDeps, writeSecret } from '../../operations/secrets/write-secret.ts'
import { type ApiRequest, type Endpoint, endpoint, listEndpoint, param } from '../endpoint.ts'

const COLLECTION = '/api/v1/secrets'
const ONE = '/api/v1/secrets/{namespace}/{resource}'

const PATH_CODES: readonly Code[] = [
  'secret_path_shape',
  'secret_path_namespace',
  'secret_path_name',
  'secret_path_namespace_split',
]

/** Rejection codes for the fields `values` and `generate` of a request that writes or rotates a secret. */
export const MATERIAL_CODES: readonly Code[] = [
  'field_unknown',
  'field_type_invalid',
  'secret_write_empty',
  'secret_key_invalid',
  'secret_key_provided_and_generated',
  'secret_value_empty',
  'secret_value_too_long',
  'secret_generate_axis_conflict',
  'secret_generate_below_entropy_floor',
  'secret_generate_bytes_out_of_range',
  'secret_generate_charset_unknown',
  'secret_generate_encoding_unknown',
  'secret_generate_key_duplicate',
  'secret_generate_keys_required',
  'secret_generate_length_out_of_range',
]

const WRITE_CODES: readonly Code[] = [
  ...PATH_CODES,
  ...MATERIAL_CODES,
  'secret_in_use',
  'quota_exceeded',
  'secrets_store_unavailable',
  'revision_conflict',
]

export function secretEndpoints(deps: WriteSecretDeps): Endpoint[] {
  return [...readEndpoints(deps), ...writeEndpoints(deps)]
}

function readEndpoints({ store }: WriteSecretDeps): Endpoint[] {
  return [
    listEndpoint(COLLECTION, {
      operation: 'listSecrets',
      action: 'secrets:read',
      summary:
        'List the secrets that have material, with versions and consumers; key names for roles that may write',
      item: secretShape,
      run: ({ caller, query }) => listSecrets(store, caller, query),
    }),
    listEndpoint(`${COLLECTION}/resources`, {
      operation: 'listSecretReferences',
      action: 'secrets:read',
      summary: 'List every path that a deployment refers to, with material or without',
      item: secretReferenceShape,
      run: ({ caller, query }) => listReferences(store, caller.tenant, query),
    }),
    listEndpoint(`${COLLECTION}/resources/{name}/consumers`, {
      operation: 'listSecretConsumers',
      action: 'secrets:read',
      summary: 'List the deployments that refer to a label, in any namespace; empty for an unknown label',
      item: secretConsumerShape,
      run: (request) => listConsumers(store, request.caller.tenant, param(request, 'name'), request.query),
    }),
  ]
}

function writeEndpoints(deps: WriteSecretDeps): Endpoint[] {
  return [
    endpoint('PUT', ONE, {
      operation: 'writeSecret',
      action: 'secrets:write',
      summary:
        'Write a new version of a secret with exactly the keys sent; the response names them and has no values',
      headers: ['If-Match'],
      body: secretWriteShape,
      shape: secretWrittenShape,
      codes: WRITE_CODES,
      run: (request) => writeSecret(deps, request.caller, pathOf(request), request.body, request),
      etag: ({ version }) => String(version),
    }),
    endpoint('PATCH', ONE, {
      operation: 'patchSecret',
      action: 'secrets:write',
      summary:
        'Add or change keys of a secret: a new version with the keys sent and all others of the newest version, which are not read',
      headers: ['If-Match'],
      body: secretWriteShape,
      shape: secretWrittenShape,
      codes: [...WRITE_CODES, 'secret_not_found', 'secret_patch_base_missing'],
      run: (request) => {
        const { caller, body, ifMatch } = request
        return writeSecret(deps, caller, pathOf(request), body, { ifMatch, patch: true })
      },
      etag: ({ version }) => String(version),
    }),
    endpoint('DELETE', ONE, {
      operation: 'deleteSecret',
      action: 'secrets:write',
      summary: 'Destroy all versions of a secret that nothing refers to',
      headers: ['If-Match'],
      status: 202,
      shape: secretShape,
      codes: ['secret_not_found', 'secret_in_use', 'revision_conflict'],
      run: (request) => deleteSecret(deps, request.caller, pathOf(request), request.ifMatch),
    }),
  ]
}

const pathOf = (request: ApiRequest) => ({
  namespace: param(request, 'namespace'),
  resource: param(request, 'resource'),
})

// /api/v1/secrets: material goes in and never comes out. SPEC 2.4, DECISIONS 1 and 8.

import {
  type Code,
  dryRunResultShape,
  pageShape,
  secretConsumerShape,
  secretReferenceShape,
  secretShape,
  secretWriteShape,
  secretWrittenShape,
} from '@holdfast/contract'
import { deleteSecret } from '../../operations/secrets/delete-secret.ts'
import { listConsumers, listReferences, listSecrets } from '../../operations/secrets/read-secrets.ts'
import { type WriteSecretDeps, writeSecret } from '../../operations/secrets/write-secret.ts'
import { planned } from '../dry-runs.ts'
import { type ApiRequest, answer, answerWith, type Endpoint, param } from '../endpoint.ts'

const COLLECTION = '/api/v1/secrets'
const ONE = '/api/v1/secrets/{namespace}/{resource}'

const PATH_CODES: readonly Code[] = [
  'secret_path_shape',
  'secret_path_namespace',
  'secret_path_name',
  'secret_path_namespace_split',
]

/** What may be wrong with `values` and `generate`, in a write and in a rotation. */
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

export function secretEndpoints(deps: WriteSecretDeps): Endpoint[] {
  return [...readEndpoints(deps), writeEndpoint(deps), deleteEndpoint(deps)]
}

function readEndpoints({ store }: WriteSecretDeps): Endpoint[] {
  const common = {
    method: 'GET',
    action: 'secrets:read',
    query: ['limit', 'cursor'],
    headers: [],
    codes: [],
  } as const
  return [
    {
      ...common,
      path: COLLECTION,
      summary:
        'List the secrets that hold material, with versions and who uses them; key names for who may write',
      success: { status: 200, shape: pageShape(secretShape) },
      handle: async ({ caller, query }) =>
        answerWith(await listSecrets(store, caller, pageRequest(query)), (page) => answer(200, page)),
    },
    {
      ...common,
      path: `${COLLECTION}/resources`,
      summary: 'List every path that a deployment refers to, with material or without',
      success: { status: 200, shape: pageShape(secretReferenceShape) },
      handle: async ({ caller, query }) =>
        answerWith(await listReferences(store, caller.tenant, pageRequest(query)), (page) =>
          answer(200, page),
        ),
    },
    {
      ...common,
      path: `${COLLECTION}/resources/{name}/consumers`,
      summary: 'List the deployments that refer to a label, whatever its namespace; none for an unknown one',
      success: { status: 200, shape: pageShape(secretConsumerShape) },
      handle: async (request) => {
        const { caller, query } = request
        const label = param(request, 'name')
        return answerWith(await listConsumers(store, caller.tenant, label, pageRequest(query)), (page) =>
          answer(200, page),
        )
      },
    },
  ]
}

function writeEndpoint(deps: WriteSecretDeps): Endpoint {
  return {
    method: 'PUT',
    path: ONE,
    action: 'secrets:write',
    summary:
      'Write a new version of a secret with exactly the keys sent; the answer names them and holds no value',
    query: ['dryRun'],
    headers: ['If-Match'],
    body: secretWriteShape,
    success: { status: 200, shape: secretWrittenShape },
    dryRun: dryRunResultShape(secretWrittenShape),
    codes: [
      ...PATH_CODES,
      ...MATERIAL_CODES,
      ...(['secret_in_use', 'quota_exceeded', 'secrets_store_unavailable', 'revision_conflict'] as const),
    ],
    handle: async (request) => {
      const { caller, body, query, ifMatch } = request
      const options = { dryRun: query.dryRun, ifMatch }
      const outcome = await writeSecret(deps, caller, pathOf(request), body, options)
      return answerWith(outcome, (written) =>
        query.dryRun ? answer(200, planned(written)) : answer(200, written, String(written.version)),
      )
    },
  }
}

function deleteEndpoint(deps: WriteSecretDeps): Endpoint {
  return {
    method: 'DELETE',
    path: ONE,
    action: 'secrets:write',
    summary: 'Destroy all versions of a secret that nothing refers to',
    query: [],
    headers: ['If-Match'],
    success: { status: 202, shape: secretShape },
    codes: ['secret_not_found', 'secret_in_use', 'revision_conflict'],
    handle: async (request) => {
      const { caller, ifMatch } = request
      return answerWith(await deleteSecret(deps, caller, pathOf(request), ifMatch), (secret) =>
        answer(202, secret),
      )
    },
  }
}

const pathOf = (request: ApiRequest) => ({
  namespace: param(request, 'namespace'),
  resource: param(request, 'resource'),
})

const pageRequest = ({ limit, cursor }: ApiRequest['query']) => ({ limit, cursor })

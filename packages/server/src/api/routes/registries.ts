// The endpoints below /api/v1/registries: the allowed registries, and the tenant's credentials for these registries.

import { list, object, type Registry, registryCredentialShape, registryShape } from '@holdfast/contract'
import { done } from '../../operations/caller.ts'
import {
  listRegistries,
  putRegistryCredential,
  type RegistryDeps,
  removeRegistryCredential,
} from '../../operations/secrets/registries.ts'
import { type Endpoint, endpoint, param } from '../endpoint.ts'

const etagOf = ({ revision = 0 }: Registry): string => String(revision)

const CREDENTIAL = '/api/v1/registries/{host}/credential'

export function registryEndpoints(deps: RegistryDeps): Endpoint[] {
  return [
    endpoint('GET', '/api/v1/registries', {
      operation: 'listRegistries',
      action: 'registries:read',
      summary: 'List the registries that images may come from',
      shape: object({ items: list(registryShape) }),
      run: async ({ caller }) => {
        await deps.store.fresh()
        return done({ items: listRegistries(deps, caller) })
      },
    }),
    endpoint('PUT', CREDENTIAL, {
      operation: 'setRegistryCredential',
      action: 'registries:write',
      summary: 'Set the credential for a registry; it is stored in the secrets store and never returned',
      headers: ['If-Match'],
      body: registryCredentialShape,
      shape: registryShape,
      codes: [
        'registry_not_allowed',
        'field_unknown',
        'field_type_invalid',
        'secrets_store_unavailable',
        'revision_conflict',
      ],
      run: (request) => {
        const { caller, body, ifMatch } = request
        return putRegistryCredential(deps, caller, param(request, 'host'), body, ifMatch)
      },
      etag: etagOf,
    }),
    endpoint('DELETE', CREDENTIAL, {
      operation: 'deleteRegistryCredential',
      action: 'registries:write',
      summary: 'Remove the credential for a registry',
      headers: ['If-Match'],
      status: 202,
      shape: registryShape,
      codes: ['registry_not_allowed', 'not_found', 'revision_conflict'],
      run: (request) =>
        removeRegistryCredential(deps, request.caller, param(request, 'host'), request.ifMatch),
    }),
  ]
}

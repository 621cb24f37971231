// /api/v1/registries: which registries may be used, and the tenant's credentials for them. DECISIONS 1 and 8.

import { dryRunResultShape, list, object, registryShape } from '@holdfast/contract'
import {
  credentialShape,
  listRegistries,
  putRegistryCredential,
  type RegistryDeps,
  removeRegistryCredential,
} from '../../operations/secrets/registries.ts'
import { planned } from '../dry-runs.ts'
import { answer, answerWith, type Endpoint, param } from '../endpoint.ts'

const CREDENTIAL = '/api/v1/registries/{host}/credential'

export function registryEndpoints(deps: RegistryDeps): Endpoint[] {
  return [
    {
      method: 'GET',
      path: '/api/v1/registries',
      action: 'registries:read',
      summary: 'List the registries that images may come from',
      query: [],
      headers: [],
      success: { status: 200, shape: object({ items: list(registryShape) }) },
      codes: [],
      handle: async ({ caller }) => {
        await deps.store.fresh()
        return answer(200, { items: listRegistries(deps, caller) })
      },
    },
    {
      method: 'PUT',
      path: CREDENTIAL,
      action: 'registries:write',
      summary: 'Set the credential for a registry; it goes to the secrets store and is never answered',
      query: ['dryRun'],
      headers: [],
      body: credentialShape,
      success: { status: 200, shape: registryShape },
      dryRun: dryRunResultShape(registryShape),
      codes: ['registry_not_allowed', 'field_unknown', 'field_type_invalid', 'secrets_store_unavailable'],
      handle: async (request) => {
        const { caller, body, query } = request
        const outcome = await putRegistryCredential(deps, caller, param(request, 'host'), body, query)
        return answerWith(outcome, (registry) => answer(200, query.dryRun ? planned(registry) : registry))
      },
    },
    {
      method: 'DELETE',
      path: CREDENTIAL,
      action: 'registries:write',
      summary: 'Remove the credential for a registry',
      query: [],
      headers: [],
      success: { status: 202, shape: registryShape },
      codes: ['registry_not_allowed', 'not_found'],
      handle: async (request) =>
        answerWith(await removeRegistryCredential(deps, request.caller, param(request, 'host')), (registry) =>
          answer(202, registry),
        ),
    },
  ]
}

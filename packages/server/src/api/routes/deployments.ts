// The endpoints below /api/v1/deployments that list, read, write and delete deployments.

import {
  deletedDeploymentShape,
  deploymentRecordShape,
  deploymentSummaryShape,
  pageShape,
  type TenantId,
  writtenShape,
} from '@holdfast/contract'
import type { Outcome } from '../../operations/caller.ts'
import type { DeploymentDeps } from '../../operations/deployments/deps.ts'
import { listFiltered, listSummaries } from '../../operations/deployments/read/list-summaries.ts'
import { getDeployment, listDeployments } from '../../operations/deployments/read/read-deployments.ts'
import { createDeployment } from '../../operations/deployments/write/create-deployment.ts'
import { removeDeployment } from '../../operations/deployments/write/remove-deployment.ts'
import { updateDeployment } from '../../operations/deployments/write/update-deployment.ts'
import type { Written } from '../../operations/deployments/write/written.ts'
import type { KeptAnswer } from '../../operations/idempotency.ts'
import type { Page } from '../../operations/page.ts'
import type { Store } from '../../store/store.ts'
import { type ApiRequest, type Endpoint, endpoint, param, respondWith } from '../endpoint.ts'
import { kept, respondOnce } from '../idempotent.ts'
import type { ParsedQuery } from '../request/query-parameters.ts'
import { deploymentChangeShape, newDeploymentShape } from '../sent-deployment.ts'
import { ADMISSION_CODES, announcement, updated } from './deployment-responses.ts'
import { deploymentActionEndpoints } from './deployments/deployment-actions.ts'
import { canaryEndpoints } from './deployments/deployment-canaries.ts'
import { deploymentReadEndpoints } from './deployments/deployment-reads.ts'

const COLLECTION = '/api/v1/deployments'
const ONE = '/api/v1/deployments/{name}'

export function deploymentEndpoints(deps: DeploymentDeps): Endpoint[] {
  return [
    ...readEndpoints(deps),
    ...writeEndpoints(deps),
    ...deploymentActionEndpoints(deps),
    ...canaryEndpoints(deps),
    ...deploymentReadEndpoints(deps),
  ]
}

function readEndpoints({ store }: DeploymentDeps): Endpoint[] {
  return [
    endpoint('GET', COLLECTION, {
      operation: 'listDeployments',
      action: 'deployments:read',
      summary:
        'List the deployments of the tenant, all or those that match; `view=summary` returns short items with the names of their nodes',
      query: ['limit', 'cursor', 'listView', 'q', 'phase', 'sort'],
      shape: pageShape(deploymentRecordShape),
      short: pageShape(deploymentSummaryShape),
      run: ({ caller, query }) => list(store, caller.tenant, query),
    }),
    endpoint('GET', ONE, {
      operation: 'getDeployment',
      action: 'deployments:read',
      summary: 'Read a deployment, by name or uid',
      shape: deploymentRecordShape,
      codes: ['deployment_not_found'],
      run: (request) => getDeployment(store, request.caller.tenant, param(request, 'name')),
      etag: ({ revision }) => String(revision),
    }),
  ]
}

/** A list without filters derives the status of the deployments of its page only. */
function list(store: Store, tenant: TenantId, query: ParsedQuery): Promise<Outcome<Page<unknown>>> {
  if (query.listView === 'summary') return listSummaries(store, tenant, query)
  const isFiltered = query.q !== undefined || query.phase !== undefined || query.sort !== undefined
  return isFiltered ? listFiltered(store, tenant, query) : listDeployments(store, tenant, query)
}

function writeEndpoints(deps: DeploymentDeps): Endpoint[] {
  return [
    endpoint('POST', COLLECTION, {
      operation: 'createDeployment',
      action: 'deployments:write',
      summary: 'Create a deployment',
      headers: ['Idempotency-Key'],
      body: newDeploymentShape,
      status: 201,
      shape: writtenShape,
      codes: [...ADMISSION_CODES, 'deployment_exists', 'quota_exceeded', 'idempotency_key_reused'],
      handle: (request) => create(deps, request),
    }),
    endpoint('PUT', ONE, {
      operation: 'updateDeployment',
      action: 'deployments:write',
      summary: 'Change a deployment: each field that is sent replaces the stored one',
      headers: ['If-Match'],
      body: deploymentChangeShape,
      shape: writtenShape,
      codes: [...ADMISSION_CODES, 'deployment_not_found', 'revision_conflict', 'quota_exceeded'],
      handle: async (request) => {
        const { caller, body, ifMatch } = request
        return respondWith(
          await updateDeployment(deps, caller, param(request, 'name'), body, { ifMatch }),
          updated,
        )
      },
    }),
    endpoint('DELETE', ONE, {
      operation: 'deleteDeployment',
      action: 'deployments:write',
      summary: 'Delete a deployment and its archive; its containers are stopped first',
      headers: ['If-Match'],
      status: 202,
      shape: deletedDeploymentShape,
      codes: ['deployment_not_found', 'revision_conflict'],
      run: (request) => removeDeployment(deps, request.caller, param(request, 'name'), request.ifMatch),
      etag: ({ revision }) => String(revision),
    }),
  ]
}

async function create(deps: DeploymentDeps, request: ApiRequest) {
  const { caller, body } = request
  const run = (idempotency: Parameters<typeof kept>[0]) =>
    createDeployment(deps, caller, body, kept(idempotency, created))
  const shown = (written: Written) => ({ ...created(written), notes: announcement(written) })
  return respondOnce(deps.answers, request, COLLECTION, run, shown)
}

const created = (written: Written): KeptAnswer => ({
  status: 201,
  body: written,
  etag: String(written.deployment.revision),
})

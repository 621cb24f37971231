// /api/v1/deployments. SPEC 4, DECISIONS 1.

import { deploymentRecordShape, dryRunShape, pageShape, writtenShape } from '@holdfast/contract'
import type { DeploymentDeps } from '../../operations/deployments/deps.ts'
import { getDeployment, listDeployments } from '../../operations/deployments/read/read-deployments.ts'
import { createDeployment } from '../../operations/deployments/write/create-deployment.ts'
import { removeDeployment } from '../../operations/deployments/write/remove-deployment.ts'
import { updateDeployment } from '../../operations/deployments/write/update-deployment.ts'
import type { Written } from '../../operations/deployments/write/written.ts'
import type { KeptAnswer } from '../../operations/idempotency.ts'
import { sentDeploymentShape } from '../body-shapes.ts'
import { type ApiRequest, answer, answerWith, type Endpoint, param } from '../endpoint.ts'
import { answerOnce, kept } from '../idempotent.ts'
import { deploymentActionEndpoints } from './deployment-actions.ts'
import { ADMISSION_CODES, announcement, dryRun, updated } from './deployment-answers.ts'
import { deploymentReadEndpoints } from './deployment-reads.ts'

const COLLECTION = '/api/v1/deployments'
const ONE = '/api/v1/deployments/{name}'

export function deploymentEndpoints(deps: DeploymentDeps): Endpoint[] {
  return [
    listEndpoint(deps),
    createEndpoint(deps),
    getEndpoint(deps),
    updateEndpoint(deps),
    removeEndpoint(deps),
    ...deploymentActionEndpoints(deps),
    ...deploymentReadEndpoints(deps),
  ]
}

function listEndpoint({ store }: DeploymentDeps): Endpoint {
  return {
    method: 'GET',
    path: COLLECTION,
    action: 'deployments:read',
    summary: 'List the deployments of the tenant',
    query: ['limit', 'cursor'],
    headers: [],
    success: { status: 200, shape: pageShape(deploymentRecordShape) },
    codes: [],
    handle: async ({ caller, query }) =>
      answerWith(await listDeployments(store, caller.tenant, pageRequest(query)), (page) =>
        answer(200, page),
      ),
  }
}

function createEndpoint(deps: DeploymentDeps): Endpoint {
  return {
    method: 'POST',
    path: COLLECTION,
    action: 'deployments:write',
    summary: 'Create a deployment',
    query: ['dryRun'],
    headers: ['Idempotency-Key'],
    body: sentDeploymentShape,
    success: { status: 201, shape: writtenShape },
    dryRun: dryRunShape,
    codes: [...ADMISSION_CODES, 'deployment_exists', 'quota_exceeded', 'idempotency_key_reused'],
    handle: (request) => create(deps, request),
  }
}

async function create(deps: DeploymentDeps, request: ApiRequest) {
  const { caller, body, query } = request
  if (query.dryRun) {
    const outcome = await createDeployment(deps, caller, body, { dryRun: true, ...kept(undefined, created) })
    return answerWith(outcome, (written) => answer(200, dryRun(written)))
  }
  const run = (idempotency: Parameters<typeof kept>[0]) =>
    createDeployment(deps, caller, body, { dryRun: false, ...kept(idempotency, created) })
  const shown = (written: Written) => ({ ...created(written), notes: announcement(written) })
  return answerOnce(deps.answers, request, COLLECTION, run, shown)
}

const created = (written: Written): KeptAnswer => ({
  status: 201,
  body: written,
  etag: String(written.deployment.revision),
})

function getEndpoint({ store }: DeploymentDeps): Endpoint {
  return {
    method: 'GET',
    path: ONE,
    action: 'deployments:read',
    summary: 'Read a deployment, by name or uid',
    query: [],
    headers: [],
    success: { status: 200, shape: deploymentRecordShape },
    codes: ['deployment_not_found'],
    handle: async (request) =>
      answerWith(await getDeployment(store, request.caller.tenant, param(request, 'name')), (record) =>
        answer(200, record, String(record.revision)),
      ),
  }
}

function updateEndpoint(deps: DeploymentDeps): Endpoint {
  return {
    method: 'PUT',
    path: ONE,
    action: 'deployments:write',
    summary: 'Change a deployment: each field that is sent replaces what is stored',
    query: ['dryRun'],
    headers: ['If-Match'],
    body: sentDeploymentShape,
    success: { status: 200, shape: writtenShape },
    dryRun: dryRunShape,
    codes: [...ADMISSION_CODES, 'deployment_not_found', 'revision_conflict', 'quota_exceeded'],
    handle: async (request) => {
      const { caller, body, query, ifMatch } = request
      const outcome = await updateDeployment(deps, caller, param(request, 'name'), body, {
        dryRun: query.dryRun,
        ifMatch,
      })
      return answerWith(outcome, (written) =>
        query.dryRun ? answer(200, dryRun(written)) : updated(written),
      )
    },
  }
}

function removeEndpoint(deps: DeploymentDeps): Endpoint {
  return {
    method: 'DELETE',
    path: ONE,
    action: 'deployments:write',
    summary: 'Delete a deployment; its containers are stopped first, its archive goes with it',
    query: [],
    headers: ['If-Match'],
    success: { status: 202, shape: deploymentRecordShape },
    codes: ['deployment_not_found', 'revision_conflict'],
    handle: async (request) => {
      const outcome = await removeDeployment(deps, request.caller, param(request, 'name'), request.ifMatch)
      return answerWith(outcome, (record) => answer(202, record, String(record.revision)))
    },
  }
}

const pageRequest = ({ limit, cursor }: ApiRequest['query']) => ({ limit, cursor })

// /api/v1/deployments and their archive. SPEC 4, DECISIONS 1.

import { archiveEntryShape, type Code, deploymentRecordShape } from '@holdfast/contract'
import { CROSS_RULES, FIELD_RULES } from '@holdfast/core'
import { done, type Outcome } from '../../operations/caller.ts'
import { createDeployment } from '../../operations/deployments/create-deployment.ts'
import type { DeploymentDeps } from '../../operations/deployments/deps.ts'
import {
  getArchived,
  getDeployment,
  listArchive,
  listDeployments,
} from '../../operations/deployments/read-deployments.ts'
import { removeDeployment } from '../../operations/deployments/remove-deployment.ts'
import { updateDeployment } from '../../operations/deployments/update-deployment.ts'
import { dryRunShape, type Written, writtenShape } from '../../operations/deployments/written.ts'
import type { KeptAnswer } from '../../operations/idempotency.ts'
import { sentDeploymentShape } from '../body-shapes.ts'
import { type Answer, type ApiRequest, answer, answerWith, type Endpoint, param } from '../endpoint.ts'
import { answerOnce, kept } from '../idempotent.ts'
import { pageShape } from '../page-shape.ts'
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
    ...deploymentReadEndpoints(deps),
    ...archiveEndpoints(deps),
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

/**
 * SPEC 1: what the server changed is announced in the log too, as in the answer. What a client sent stands in it only as
 * the redactor quotes it (core/admission/read-only-echo.ts).
 */
function announcement({ deployment, alterations, warnings }: Written): object {
  return { deployment: deployment.name, alterations, warnings }
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
    codes: [...ADMISSION_CODES, 'deployment_not_found', 'revision_conflict'],
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

function updated(written: Written): Outcome<Answer> {
  const etag = String(written.deployment.revision)
  return done({ status: 200, body: written, etag, notes: announcement(written) })
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

function archiveEndpoints({ store }: DeploymentDeps): Endpoint[] {
  const common = {
    method: 'GET',
    action: 'archives:read',
    headers: [],
    codes: ['archive_not_found'],
  } as const
  return [
    {
      ...common,
      path: '/api/v1/archives/deployments/{name}',
      summary: 'List the kept revisions of a deployment, oldest first',
      query: ['limit', 'cursor'],
      success: { status: 200, shape: pageShape(archiveEntryShape) },
      handle: async (request) =>
        answerWith(
          await listArchive(store, request.caller.tenant, param(request, 'name'), pageRequest(request.query)),
          (page) => answer(200, page),
        ),
    },
    {
      ...common,
      path: '/api/v1/archives/deployments/{name}/{revision}',
      summary: 'Read one revision of a deployment as it was stored',
      query: [],
      success: { status: 200, shape: archiveEntryShape },
      handle: async (request) =>
        answerWith(
          await getArchived(store, request.caller.tenant, param(request, 'name'), param(request, 'revision')),
          (entry) => answer(200, entry),
        ),
    },
  ]
}

/** Of a dry run the deployment is not shown: it does not exist. */
const dryRun = ({ alterations, warnings, plan }: Written) => ({ alterations, warnings, plan })

const pageRequest = ({ limit, cursor }: ApiRequest['query']) => ({ limit, cursor })

/** What a body may be refused for, from the rules themselves. */
const ADMISSION_CODES: readonly Code[] = [
  ...new Set<Code>([
    'manifest_wrong_kind',
    'field_unknown',
    'field_read_only',
    'field_type_invalid',
    ...[...FIELD_RULES, ...CROSS_RULES].map(({ code }) => code),
    'dependency_not_found',
    'dependency_has_no_health_check',
    'image_not_found',
    'node_candidates_unresolvable',
    'node_not_a_placement_candidate',
    'registry_credential_store_unavailable',
  ]),
]

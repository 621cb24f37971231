// The endpoints below /api/v1/deployments that list, read, write and delete deployments.

import {
  deploymentBodyShape,
  deploymentRecordShape,
  object,
  optional,
  type Shape,
  writtenShape,
} from '@holdfast/contract'
import type { DeploymentDeps } from '../../operations/deployments/deps.ts'
import { getDeployment, listDeployments } from '../../operations/deployments/read/read-deployments.ts'
import { createDeployment } from '../../operations/deployments/write/create-deployment.ts'
import { removeDeployment } from '../../operations/deployments/write/remove-deployment.ts'
import { updateDeployment } from '../../operations/deployments/write/update-deployment.ts'
import type { Written } from '../../operations/deployments/write/written.ts'
import type { KeptAnswer } from '../../operations/idempotency.ts'
import { type ApiRequest, type Endpoint, endpoint, listEndpoint, param, respondWith } from '../endpoint.ts'
import { kept, respondOnce } from '../idempotent.ts'
import { deploymentActionEndpoints } from './deployment-actions.ts'
import { deploymentReadEndpoints } from './deployment-reads.ts'
import { ADMISSION_CODES, announcement, updated } from './deployment-responses.ts'

const COLLECTION = '/api/v1/deployments'
const ONE = '/api/v1/deployments/{name}'

export function deploymentEndpoints(deps: DeploymentDeps): Endpoint[] {
  return [
    ...readEndpoints(deps),
    ...writeEndpoints(deps),
    ...deploymentActionEndpoints(deps),
    ...deploymentReadEndpoints(deps),
  ]
}

const REQUIRED_ON_CREATE: ReadonlySet<string> = new Set(['kind', 'name', 'image'])

/** Deployment body in the OpenAPI document. Most fields are optional, because admission reports missing fields itself. */
const sentDeploymentShape: Shape<unknown> = object(
  Object.fromEntries(
    Object.entries(deploymentBodyShape.fields).map(([name, field]) => [
      name,
      REQUIRED_ON_CREATE.has(name) ? loosen(field) : optional(loosen(field)),
    ]),
  ),
)

/** Returns a copy of `shape` in which all fields of all objects are optional. */
function loosen(shape: Shape<unknown>): Shape<unknown> {
  if (shape.kind === 'optional') return optional(loosen(shape.inner))
  if (shape.kind === 'list') return { ...shape, element: loosen(shape.element) }
  if (shape.kind !== 'object') return shape
  return object(
    Object.fromEntries(Object.entries(shape.fields).map(([name, field]) => [name, optional(loosen(field))])),
  )
}

function readEndpoints({ store }: DeploymentDeps): Endpoint[] {
  return [
    listEndpoint(COLLECTION, {
      action: 'deployments:read',
      summary: 'List the deployments of the tenant',
      item: deploymentRecordShape,
      run: ({ caller, query }) => listDeployments(store, caller.tenant, query),
    }),
    endpoint('GET', ONE, {
      action: 'deployments:read',
      summary: 'Read a deployment, by name or uid',
      shape: deploymentRecordShape,
      codes: ['deployment_not_found'],
      run: (request) => getDeployment(store, request.caller.tenant, param(request, 'name')),
      etag: ({ revision }) => String(revision),
    }),
  ]
}

function writeEndpoints(deps: DeploymentDeps): Endpoint[] {
  return [
    endpoint('POST', COLLECTION, {
      action: 'deployments:write',
      summary: 'Create a deployment',
      headers: ['Idempotency-Key'],
      body: sentDeploymentShape,
      status: 201,
      shape: writtenShape,
      codes: [...ADMISSION_CODES, 'deployment_exists', 'quota_exceeded', 'idempotency_key_reused'],
      handle: (request) => create(deps, request),
    }),
    endpoint('PUT', ONE, {
      action: 'deployments:write',
      summary: 'Change a deployment: each field that is sent replaces the stored one',
      headers: ['If-Match'],
      body: sentDeploymentShape,
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
      action: 'deployments:write',
      summary: 'Delete a deployment and its archive; its containers are stopped first',
      headers: ['If-Match'],
      status: 202,
      shape: deploymentRecordShape,
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

// Endpoints for the actions on a deployment: restart and rollback.

import { rollbackShape, writtenShape } from '@holdfast/contract'
import type { DeploymentDeps } from '../../../operations/deployments/deps.ts'
import { restartDeployment } from '../../../operations/deployments/write/restart-deployment.ts'
import { rollBackDeployment } from '../../../operations/deployments/write/rollback-deployment.ts'
import { type Endpoint, endpoint, param } from '../../endpoint.ts'
import { ADMISSION_CODES } from '../deployment-responses.ts'
import { act } from './deployment-acts.ts'

const RESTART = '/api/v1/deployments/{name}/restart'
const ROLLBACK = '/api/v1/deployments/{name}/rollback'

export function deploymentActionEndpoints(deps: DeploymentDeps): Endpoint[] {
  const common = {
    action: 'deployments:write',
    headers: ['If-Match', 'Idempotency-Key'],
    shape: writtenShape,
  } as const
  return [
    endpoint('POST', RESTART, {
      operation: 'restartDeployment',
      ...common,
      summary: 'Replace every replica of a deployment as an update would; the spec does not change',
      codes: ['deployment_not_found', 'revision_conflict', 'quota_exceeded', 'idempotency_key_reused'],
      handle: (request) =>
        act(deps, request, RESTART, (options) =>
          restartDeployment(deps, request.caller, param(request, 'name'), options),
        ),
    }),
    endpoint('POST', ROLLBACK, {
      operation: 'rollBackDeployment',
      ...common,
      summary:
        'Store an archived revision of a deployment as a new revision, with every field except secretsVersion',
      body: rollbackShape,
      codes: [
        'deployment_not_found',
        'archive_not_found',
        'revision_conflict',
        'quota_exceeded',
        'idempotency_key_reused',
        ...ADMISSION_CODES,
      ],
      handle: (request) =>
        act(deps, request, ROLLBACK, (options) =>
          rollBackDeployment(deps, request.caller, param(request, 'name'), request.body, options),
        ),
    }),
  ]
}

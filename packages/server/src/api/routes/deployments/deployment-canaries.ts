// Endpoints for the canary of a deployment: start, promote and abort. Its state is part of the deployment.

import { promoteCanaryShape, writtenShape } from '@holdfast/contract'
import { abortDeploymentCanary } from '../../../operations/deployments/canary/abort-canary.ts'
import { promoteCanary } from '../../../operations/deployments/canary/promote-canary.ts'
import { startCanary } from '../../../operations/deployments/canary/start-canary.ts'
import type { DeploymentDeps } from '../../../operations/deployments/deps.ts'
import { type Endpoint, endpoint, param } from '../../endpoint.ts'
import { sentCanaryShape } from '../../sent-deployment.ts'
import { ADMISSION_CODES } from '../deployment-responses.ts'
import { act, startOnce } from './deployment-acts.ts'

const CANARY = '/api/v1/deployments/{name}/canary'
const PROMOTE = `${CANARY}/promote`
const ABORT = `${CANARY}/abort`

export function canaryEndpoints(deps: DeploymentDeps): Endpoint[] {
  const common = {
    action: 'deployments:write',
    headers: ['If-Match', 'Idempotency-Key'],
    shape: writtenShape,
  } as const
  const codes = [
    'deployment_not_found',
    'canary_state_invalid',
    'revision_conflict',
    'idempotency_key_reused',
  ] as const
  return [
    endpoint('POST', CANARY, {
      operation: 'startCanary',
      ...common,
      status: 201,
      summary: 'Run a change of a deployment in a few replicas beside the current ones',
      body: sentCanaryShape,
      codes: [...codes, 'quota_exceeded', ...ADMISSION_CODES],
      handle: (request) =>
        startOnce(deps, request, CANARY, (options) =>
          startCanary(deps, request.caller, param(request, 'name'), request.body, options),
        ),
    }),
    endpoint('POST', PROMOTE, {
      operation: 'promoteCanary',
      ...common,
      summary: 'Store the change of a canary as a revision, and roll it out from the replicas of the canary',
      body: promoteCanaryShape,
      codes: [...codes, 'quota_exceeded', ...ADMISSION_CODES],
      handle: (request) =>
        act(deps, request, PROMOTE, (options) =>
          promoteCanary(deps, request.caller, param(request, 'name'), request.body, options),
        ),
    }),
    endpoint('POST', ABORT, {
      operation: 'abortCanary',
      ...common,
      summary: 'End a canary and remove its replicas',
      codes: [...codes],
      handle: (request) =>
        act(deps, request, ABORT, (options) =>
          abortDeploymentCanary(deps, request.caller, param(request, 'name'), options),
        ),
    }),
  ]
}

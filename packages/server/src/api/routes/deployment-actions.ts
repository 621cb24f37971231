// Endpoints for the actions on a deployment: restart and rollback.

import { dryRunShape, writtenShape } from '@holdfast/contract'
import type { Outcome } from '../../operations/caller.ts'
import type { DeploymentDeps } from '../../operations/deployments/deps.ts'
import { restartDeployment } from '../../operations/deployments/write/restart-deployment.ts'
import { rollBackDeployment, rollbackShape } from '../../operations/deployments/write/rollback-deployment.ts'
import type { Written } from '../../operations/deployments/write/written.ts'
import type { Kept } from '../../operations/idempotency.ts'
import {
  type ApiRequest,
  type ApiResponse,
  type Endpoint,
  endpoint,
  param,
  respond,
  respondWith,
} from '../endpoint.ts'
import { kept, respondOnce } from '../idempotent.ts'
import { ADMISSION_CODES, announcement, changed, dryRun } from './deployment-responses.ts'

const RESTART = '/api/v1/deployments/{name}/restart'
const ROLLBACK = '/api/v1/deployments/{name}/rollback'

export function deploymentActionEndpoints(deps: DeploymentDeps): Endpoint[] {
  const common = {
    action: 'deployments:write',
    query: ['dryRun'],
    headers: ['If-Match', 'Idempotency-Key'],
    shape: writtenShape,
    dryRun: dryRunShape,
  } as const
  return [
    endpoint('POST', RESTART, {
      ...common,
      summary: 'Replace every replica of a deployment as an update would; the spec does not change',
      codes: ['deployment_not_found', 'revision_conflict', 'quota_exceeded', 'idempotency_key_reused'],
      handle: (request) =>
        act(deps, request, RESTART, (options) =>
          restartDeployment(deps, request.caller, param(request, 'name'), options),
        ),
    }),
    endpoint('POST', ROLLBACK, {
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

interface ActionOptions extends Kept<Written> {
  readonly dryRun: boolean
  readonly ifMatch: string | undefined
}

async function act(
  { answers }: Pick<DeploymentDeps, 'answers'>,
  request: ApiRequest,
  path: string,
  run: (options: ActionOptions) => Promise<Outcome<Written>>,
): Promise<Outcome<ApiResponse>> {
  const { query, ifMatch } = request
  if (query.dryRun) {
    const outcome = await run({ dryRun: true, ifMatch, ...kept(undefined, changed) })
    return respondWith(outcome, (written) => respond(200, dryRun(written)))
  }
  return respondOnce(
    answers,
    request,
    path.replace('{name}', param(request, 'name')),
    (once) => run({ dryRun: false, ifMatch, ...kept(once, changed) }),
    (written) => ({ ...changed(written), notes: announcement(written) }),
  )
}

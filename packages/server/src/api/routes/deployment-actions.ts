// What is asked of a deployment beside its fields: to be made anew, or to be as it was. DECISIONS 1.

import { dryRunShape, writtenShape } from '@holdfast/contract'
import type { Outcome } from '../../operations/caller.ts'
import type { DeploymentDeps } from '../../operations/deployments/deps.ts'
import { restartDeployment } from '../../operations/deployments/write/restart-deployment.ts'
import { rollBackDeployment, rollbackShape } from '../../operations/deployments/write/rollback-deployment.ts'
import type { Written } from '../../operations/deployments/write/written.ts'
import type { Kept } from '../../operations/idempotency.ts'
import { type Answer, type ApiRequest, answer, answerWith, type Endpoint, param } from '../endpoint.ts'
import { answerOnce, kept } from '../idempotent.ts'
import { ADMISSION_CODES, announcement, changed, dryRun } from './deployment-answers.ts'

const RESTART = '/api/v1/deployments/{name}/restart'
const ROLLBACK = '/api/v1/deployments/{name}/rollback'

export function deploymentActionEndpoints(deps: DeploymentDeps): Endpoint[] {
  const common = {
    method: 'POST',
    action: 'deployments:write',
    query: ['dryRun'],
    headers: ['If-Match', 'Idempotency-Key'],
    success: { status: 200, shape: writtenShape },
    dryRun: dryRunShape,
  } as const
  return [
    {
      ...common,
      path: RESTART,
      summary: 'Make every replica of a deployment anew, as an update would; the spec stays as it is',
      codes: ['deployment_not_found', 'revision_conflict', 'quota_exceeded', 'idempotency_key_reused'],
      handle: (request) =>
        act(deps, request, RESTART, (options) =>
          restartDeployment(deps, request.caller, param(request, 'name'), options),
        ),
    },
    {
      ...common,
      path: ROLLBACK,
      summary:
        'Store an archived revision of a deployment again, as a new revision: every field as it was, secretsVersion as it is',
      body: rollbackShape,
      codes: [
        ...(['deployment_not_found', 'archive_not_found', 'revision_conflict'] as const),
        ...(['quota_exceeded', 'idempotency_key_reused'] as const),
        ...ADMISSION_CODES,
      ],
      handle: (request) =>
        act(deps, request, ROLLBACK, (options) =>
          rollBackDeployment(deps, request.caller, param(request, 'name'), request.body, options),
        ),
    },
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
): Promise<Outcome<Answer>> {
  const { query, ifMatch } = request
  if (query.dryRun) {
    const outcome = await run({ dryRun: true, ifMatch, ...kept(undefined, changed) })
    return answerWith(outcome, (written) => answer(200, dryRun(written)))
  }
  return answerOnce(
    answers,
    request,
    path.replace('{name}', param(request, 'name')),
    (once) => run({ dryRun: false, ifMatch, ...kept(once, changed) }),
    (written) => ({ ...changed(written), notes: announcement(written) }),
  )
}

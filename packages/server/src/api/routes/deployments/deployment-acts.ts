// Runs an action on a deployment once for each Idempotency-Key.

import type { Outcome } from '../../../operations/caller.ts'
import type { DeploymentDeps } from '../../../operations/deployments/deps.ts'
import type { Written } from '../../../operations/deployments/write/written.ts'
import type { Kept, KeptAnswer } from '../../../operations/idempotency.ts'
import { type ApiRequest, type ApiResponse, param } from '../../endpoint.ts'
import { kept, respondOnce } from '../../idempotent.ts'
import { announcement, changed } from '../deployment-responses.ts'

interface ActionOptions extends Kept<Written> {
  readonly ifMatch: string | undefined
}

type Run = (options: ActionOptions) => Promise<Outcome<Written>>
type Deps = Pick<DeploymentDeps, 'answers'>

export const act = (deps: Deps, request: ApiRequest, path: string, run: Run) =>
  actWith(deps, request, path, run, changed)

/** An action that creates something is answered with 201. */
export const startOnce = (deps: Deps, request: ApiRequest, path: string, run: Run) =>
  actWith(deps, request, path, run, (written) => ({ ...changed(written), status: 201 }))

function actWith(
  { answers }: Deps,
  request: ApiRequest,
  path: string,
  run: Run,
  answerOf: (written: Written) => KeptAnswer,
): Promise<Outcome<ApiResponse>> {
  const { ifMatch } = request
  return respondOnce(
    answers,
    request,
    path.replace('{name}', param(request, 'name')),
    (once) => run({ ifMatch, ...kept(once, answerOf) }),
    (written) => ({ ...answerOf(written), notes: announcement(written) }),
  )
}

// /api/v1/deployments/{name}/secrets/...: the rotation of the credentials of a deployment. SPEC 3 and 4, DECISIONS 1 and 5.

import { type Rotation, rotateShape, rotationDryRunShape, rotationShape } from '@holdfast/contract'
import type { Outcome } from '../../operations/caller.ts'
import type { Idempotency, KeptAnswer } from '../../operations/idempotency.ts'
import { readRotation } from '../../operations/secrets/rotation/read-rotation.ts'
import { rotateSecrets } from '../../operations/secrets/rotation/rotate.ts'
import type { RotateDeps } from '../../operations/secrets/rotation/rotate-request.ts'
import { planned } from '../dry-runs.ts'
import { type Answer, type ApiRequest, answer, answerWith, type Endpoint, param } from '../endpoint.ts'
import { answerOnce, kept } from '../idempotent.ts'
import { MATERIAL_CODES } from './secrets.ts'

const ROTATE = '/api/v1/deployments/{name}/secrets/rotate'

const turned = (rotation: Rotation): KeptAnswer => ({ status: 200, body: rotation })

export function rotationEndpoints(deps: RotateDeps): Endpoint[] {
  return [readEndpoint(deps), rotateEndpoint(deps)]
}

function readEndpoint({ store }: RotateDeps): Endpoint {
  return {
    method: 'GET',
    path: '/api/v1/deployments/{name}/secrets/rotation',
    action: 'secrets:read',
    summary:
      'How far the rotation of each secret of a deployment is, what may follow and what that waits for',
    query: [],
    headers: [],
    success: { status: 200, shape: rotationShape },
    codes: ['deployment_not_found'],
    handle: async (request) =>
      answerWith(await readRotation(store, request.caller.tenant, param(request, 'name')), (rotation) =>
        answer(200, rotation),
      ),
  }
}

function rotateEndpoint(deps: RotateDeps): Endpoint {
  return {
    method: 'POST',
    path: ROTATE,
    action: 'secrets:rotate',
    summary:
      'Advance the rotation of one secret of a deployment, or of all of them, by one phase; or abort it',
    query: ['dryRun'],
    headers: ['Idempotency-Key'],
    body: rotateShape,
    success: { status: 200, shape: rotationShape },
    dryRun: rotationDryRunShape,
    codes: [
      ...(['deployment_not_found', 'rotation_transition_invalid', 'secret_name_invalid'] as const),
      ...MATERIAL_CODES,
      ...(['secret_in_use', 'quota_exceeded', 'secrets_store_unavailable'] as const),
      'idempotency_key_reused',
    ],
    handle: (request) => rotate(deps, request),
  }
}

async function rotate(deps: RotateDeps, request: ApiRequest): Promise<Outcome<Answer>> {
  const { caller, body, query } = request
  const name = param(request, 'name')
  if (query.dryRun) {
    const outcome = await rotateSecrets(deps, caller, name, body, {
      dryRun: true,
      ...kept(undefined, turned),
    })
    return answerWith(outcome, (rotation) => answer(200, planned(rotation)))
  }
  const run = (once: Idempotency | undefined) => rotateSecrets(deps, caller, name, body, kept(once, turned))
  return answerOnce(deps.answers, request, ROTATE.replace('{name}', name), run, turned)
}

// The endpoints below /api/v1/deployments/{name}/secrets: rotation of the secrets of a deployment.

import { type Rotation, rotateShape, rotationShape } from '@holdfast/contract'
import type { Outcome } from '../../operations/caller.ts'
import type { Idempotency, KeptAnswer } from '../../operations/idempotency.ts'
import { readRotation } from '../../operations/secrets/rotation/read-rotation.ts'
import { rotateSecrets } from '../../operations/secrets/rotation/rotate.ts'
import type { RotateDeps } from '../../operations/secrets/rotation/rotate-request.ts'
import { type ApiRequest, type ApiResponse, type Endpoint, endpoint, param } from '../endpoint.ts'
import { kept, respondOnce } from '../idempotent.ts'
import { MATERIAL_CODES } from './secrets.ts'

const ROTATE = '/api/v1/deployments/{name}/secrets/rotate'

const rotated = (rotation: Rotation): KeptAnswer => ({ status: 200, body: rotation })

export function rotationEndpoints(deps: RotateDeps): Endpoint[] {
  return [
    endpoint('GET', '/api/v1/deployments/{name}/secrets/rotation', {
      operation: 'getRotation',
      action: 'secrets:read',
      summary: 'Read the rotation phase of each secret of a deployment, the next phase and its conditions',
      shape: rotationShape,
      codes: ['deployment_not_found'],
      run: (request) => readRotation(deps.store, request.caller.tenant, param(request, 'name')),
    }),
    endpoint('POST', ROTATE, {
      operation: 'rotateSecrets',
      action: 'secrets:rotate',
      summary:
        'Advance the rotation of one secret of a deployment, or of all of them, by one phase; or abort it',
      headers: ['Idempotency-Key'],
      body: rotateShape,
      shape: rotationShape,
      codes: [
        'deployment_not_found',
        'rotation_transition_invalid',
        'secret_name_invalid',
        ...MATERIAL_CODES,
        'secret_in_use',
        'quota_exceeded',
        'secrets_store_unavailable',
        'idempotency_key_reused',
      ],
      handle: (request) => rotate(deps, request),
    }),
  ]
}

async function rotate(deps: RotateDeps, request: ApiRequest): Promise<Outcome<ApiResponse>> {
  const { caller, body } = request
  const name = param(request, 'name')
  const run = (once: Idempotency | undefined) => rotateSecrets(deps, caller, name, body, kept(once, rotated))
  return respondOnce(deps.answers, request, ROTATE.replace('{name}', name), run, rotated)
}

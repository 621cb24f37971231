// What a step of a rotation is given: the server's parts, and one request.

import type { Limits } from '@holdfast/core'
import type { SlotDeps } from '../../../quotas/hold-slot.ts'
import type { Caller } from '../../caller.ts'
import type { IdempotentAnswers } from '../../idempotency.ts'
import type { MaterialDeps, StagedMaterial } from '../versions/stage-material.ts'
import type { AskedRotation } from './rotate-body.ts'

export interface RotateDeps extends MaterialDeps, SlotDeps {
  readonly answers: IdempotentAnswers
  readonly namespaces: readonly string[]
  readonly limits: Limits
  readonly archiveRevisions: number
}

/** One request, with the version that was made for it. */
export interface RotateRequest {
  readonly caller: Caller
  readonly path: string
  readonly asked: AskedRotation
  readonly made?: StagedMaterial
}

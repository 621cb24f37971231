// What a step of a rotation is given: the server's parts, and one request.

import type { Limits } from '@holdfast/core'
import type { Caller } from '../caller.ts'
import type { SlotDeps } from '../hold-slot.ts'
import type { IdempotentAnswers } from '../idempotency.ts'
import type { AskedRotation } from './rotate-body.ts'
import type { MaterialDeps, StagedMaterial } from './stage-material.ts'

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

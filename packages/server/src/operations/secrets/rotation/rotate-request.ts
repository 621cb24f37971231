// The request that advances a rotation: dependencies, and the checks of the body that do not need the deployment. The
// allowed phases depend on the current state of the rotation, so rotate-judge.ts checks them.

import { isJsonObject, type Json, type Rejection } from '@holdfast/contract'
import { checkSecretWrite, type Limits, reject, type WrittenMaterial } from '@holdfast/core'
import type { SlotDeps } from '../../../quotas/hold-slot.ts'
import { type Caller, done, type Outcome, refused } from '../../caller.ts'
import type { IdempotentAnswers } from '../../idempotency.ts'
import type { MaterialDeps, StagedMaterial } from '../versions/stage-material.ts'

export interface RotateDeps extends MaterialDeps, SlotDeps {
  readonly answers: IdempotentAnswers
  readonly namespaces: readonly string[]
  readonly limits: Limits
  readonly archiveRevisions: number
}

/** One rotation request, with the secret version that was written for it. */
export interface RotateRequest {
  readonly caller: Caller
  readonly path: string
  readonly body: RotateBody
  readonly staged?: StagedMaterial
}

export interface RotateBody {
  /** The phase in the request; undefined if none was sent. */
  readonly step: string | undefined
  /** The name of the secret entry in the deployment. */
  readonly secret: string | undefined
  readonly material: WrittenMaterial | undefined
}

const OWN_FIELDS = ['phase', 'secret']

export function judgeRotateBody(sent: Json, limits: Limits): Outcome<RotateBody> {
  const verdict = checkSecretWrite(sent, { limits, beside: OWN_FIELDS })
  const body = isJsonObject(sent) ? sent : {}
  const hasMaterial = isSent(body.values) || isSent(body.generate)
  const found = verdict.accepted ? [] : verdict.rejections
  // If the request has no secret values, the phase `stage` uses the newest version; the other phases need no values.
  const faults = found.filter(({ code }) => hasMaterial || code !== 'secret_write_empty')
  const isUnknown = ({ code }: Rejection) => code === 'field_unknown'
  const texts = OWN_FIELDS.flatMap((field) => checkText(field, body[field]))
  const all = [...faults.filter(isUnknown), ...texts, ...faults.filter((each) => !isUnknown(each))]
  if (all.length > 0) return refused(...all)
  return done({
    step: textOf(body.phase),
    secret: textOf(body.secret),
    material: hasMaterial && verdict.accepted ? verdict.material : undefined,
  })
}

function checkText(field: string, value: Json | undefined): Rejection[] {
  if (!isSent(value) || typeof value === 'string') return []
  return [reject('field_type_invalid', field, value, { accepted: 'a string' })]
}

const isSent = (value: Json | undefined): boolean => value !== undefined && value !== null
const textOf = (value: Json | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined

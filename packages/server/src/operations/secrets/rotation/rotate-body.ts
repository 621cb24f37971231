// The body of POST /deployments/{name}/secrets/rotate, as far as it can be judged without looking at the deployment.
// DECISIONS 3 (rotate) and 5: which phases there are is said with the phase that the rotation is in.

import { isJsonObject, type Json, type Rejection } from '@holdfast/contract'
import { checkSecretWrite, type Limits, reject, type WrittenMaterial } from '@holdfast/core'
import { done, type Outcome, refused } from '../../caller.ts'

export interface AskedRotation {
  /** As sent; undefined where it was not. */
  readonly step: string | undefined
  /** The name of an entry. */
  readonly secret: string | undefined
  readonly material: WrittenMaterial | undefined
}

const OWN_FIELDS = ['phase', 'secret']

export function judgeRotateBody(sent: Json, limits: Limits): Outcome<AskedRotation> {
  const verdict = checkSecretWrite(sent, { limits, beside: OWN_FIELDS })
  const body = isJsonObject(sent) ? sent : {}
  const bringsSome = isSent(body.values) || isSent(body.generate)
  const found = verdict.accepted ? [] : verdict.rejections
  // Without any, `stage` takes what was written before, and the other phases want none.
  const faults = found.filter(({ code }) => bringsSome || code !== 'secret_write_empty')
  const isUnknown = ({ code }: Rejection) => code === 'field_unknown'
  const texts = OWN_FIELDS.flatMap((field) => checkText(field, body[field]))
  const all = [...faults.filter(isUnknown), ...texts, ...faults.filter((each) => !isUnknown(each))]
  if (all.length > 0) return refused(...all)
  return done({
    step: textOf(body.phase),
    secret: textOf(body.secret),
    material: bringsSome && verdict.accepted ? verdict.material : undefined,
  })
}

function checkText(field: string, value: Json | undefined): Rejection[] {
  if (!isSent(value) || typeof value === 'string') return []
  return [reject('field_type_invalid', field, value, { accepted: 'a string' })]
}

const isSent = (value: Json | undefined): boolean => value !== undefined && value !== null
const textOf = (value: Json | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined

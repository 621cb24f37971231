// The verdict on a body: all its faults, or the spec to store with everything that was altered. DESIGN 4, steps 1 and 2.

import { isJsonObject, type Json, type Rejection } from '@holdfast/contract'
import { checkBody } from './admit-body.ts'
import type { AdmissionContext } from './context.ts'
import { type Normalised, normalise } from './normalize/normalise.ts'

export type BodyVerdict =
  | { readonly accepted: false; readonly rejections: readonly Rejection[] }
  | ({ readonly accepted: true } & Normalised)

/**
 * For an update the context must hold the current record: without one only checkBody can judge, and the facts then say
 * deployment_not_found.
 */
export function admitDeployment(sent: Json, context: AdmissionContext): BodyVerdict {
  const rejections = checkBody(sent, context)
  if (rejections.length > 0 || !isJsonObject(sent)) return { accepted: false, rejections }
  return { accepted: true, ...normalise(sent, context.current, context.limits) }
}

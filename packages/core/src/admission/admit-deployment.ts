// Checks a deployment body and returns all its faults, or the spec to store with every alteration.

import { isJsonObject, type Json, type Rejection } from '@holdfast/contract'
import { checkBody } from './admit-body.ts'
import type { AdmissionContext } from './context.ts'
import { type Normalised, normalise } from './normalize/normalise.ts'

export type BodyVerdict =
  | { readonly accepted: false; readonly rejections: readonly Rejection[] }
  | ({ readonly accepted: true } & Normalised)

/**
 * Checks a deployment body and builds the spec to store. For an update the context must contain the current record; if
 * there is no record, call checkBody instead, and the fact checks reject with deployment_not_found.
 */
export function admitDeployment(sent: Json, context: AdmissionContext): BodyVerdict {
  const rejections = checkBody(sent, context)
  if (rejections.length > 0 || !isJsonObject(sent)) return { accepted: false, rejections }
  return { accepted: true, ...normalise(sent, context.current, context.limits) }
}

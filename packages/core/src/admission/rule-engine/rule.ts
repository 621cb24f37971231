// A rule as data: its code, path, stage and check. The walker decides when it runs.

import type { Code, Json, JsonObject } from '@holdfast/contract'
import type { Params } from '../../reject.ts'
import type { AdmissionContext } from '../context.ts'

/** Of several rules on one value, only the first failing one in this order is reported. */
export const STAGES = ['type', 'required', 'length', 'form', 'range'] as const
export type Stage = (typeof STAGES)[number]

/** The parameters of the catalogue's text. */
export interface Refusal {
  readonly params: Params
}

/** `true` rejects with the catalogue's text as it is. */
export type Verdict = boolean | Refusal

/** The position of the checked value in the body. */
export interface Place {
  /** The field, the map key, or the index as text. */
  readonly key: string
  readonly parent: JsonObject | Json[]
  readonly sent: JsonObject
}

export interface Rule {
  readonly code: Code
  /** `healthCheck.timeout`, `environment.*`, `placement.constraints[*].operator`. */
  readonly at: string
  /**
   * `type` runs before the type check of the shape, so that a rule can report a wrong type with its own code. Only
   * `type` and `required` see absent values; later stages see values of the right type.
   */
  readonly stage: Stage
  readonly refuses: (value: Json | undefined, context: AdmissionContext, place: Place) => Verdict
}

type Judge<T> = (value: T, context: AdmissionContext, place: Place) => Verdict

export const onText =
  (judge: Judge<string>): Rule['refuses'] =>
  (value, context, place) =>
    typeof value === 'string' && judge(value, context, place)

export const onNumber =
  (judge: Judge<number | bigint>): Rule['refuses'] =>
  (value, context, place) =>
    (typeof value === 'number' || typeof value === 'bigint') && judge(value, context, place)

export const onObject =
  (judge: Judge<JsonObject>): Rule['refuses'] =>
  (value, context, place) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) && judge(value, context, place)

/** Fills `{accepted}` in codes whose accepted form depends on the field. */
export function accepted(form: string): Refusal {
  return { params: { accepted: form } }
}

export function isAbsent(value: Json | undefined): value is null | undefined {
  return value === undefined || value === null
}

/** Another field of the object that holds the checked one. */
export function sibling(place: Place, key: string): Json | undefined {
  return Array.isArray(place.parent) ? undefined : place.parent[key]
}

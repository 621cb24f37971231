// A rule as data: which code it raises, at which field, at which stage, and what it refuses. The walker decides when it runs.

import type { Code, Json, JsonObject } from '@holdfast/contract'
import type { Params } from '../../reject.ts'
import type { AdmissionContext } from '../context.ts'

/** Per value the first refusing rule in this order is reported, and only that one. DECISIONS 2, Order. */
export const STAGES = ['type', 'required', 'length', 'form', 'range'] as const
export type Stage = (typeof STAGES)[number]

/** What a rule fills into the catalogue's text. */
export interface Refusal {
  readonly params: Params
}

/** `true` refuses with the catalogue's own words. */
export type Verdict = boolean | Refusal

/** Where the judged value stands in what was sent. */
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
   * `type` runs before the shape's own type check and lets a rule claim a wrong type for its code.
   * Only `type` and `required` see an absent value; all later stages see values of the right type.
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

/** Fills the `{accepted}` of the codes whose accepted form depends on the field. */
export function accepted(form: string): Refusal {
  return { params: { accepted: form } }
}

export function isAbsent(value: Json | undefined): value is null | undefined {
  return value === undefined || value === null
}

/** The field beside the judged one, in the same object. */
export function sibling(place: Place, key: string): Json | undefined {
  return Array.isArray(place.parent) ? undefined : place.parent[key]
}

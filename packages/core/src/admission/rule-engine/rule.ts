// An admission rule as data: error code, field path, stage and check. walk.ts decides when a rule runs.

import type { Code, Json, JsonObject } from '@holdfast/contract'
import type { Params } from '../../reject.ts'
import type { AdmissionContext } from '../context.ts'

/** The stages of admission rules, in running order. If several rules reject one value, only the first is reported. */
export const STAGES = ['type', 'required', 'length', 'form', 'range'] as const
export type Stage = (typeof STAGES)[number]

/** Why a rule rejects a value: parameters for the text in the error catalogue. */
export interface Refusal {
  readonly params: Params
}

/** The result of a rule. `true` rejects with the text of the error catalogue, without parameters. */
export type Verdict = boolean | Refusal

/** The position of the checked value in the body. */
export interface Place {
  /** Last part of the checked value's path: the field name, the map key, or the list index as text. */
  readonly key: string
  readonly parent: JsonObject | Json[]
  readonly sent: JsonObject
}

export interface Rule {
  readonly code: Code
  /** Path of the checked field: `healthCheck.timeout`, `environment.*`, `placement.constraints[*].operator`. */
  readonly at: string
  /**
   * When the rule runs. Rules of stage `type` run before the type check, so that they can report a wrong type with a
   * specific code. Absent values are passed only to the stages `type` and `required`.
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

/** Parameters for codes whose text contains `{accepted}`, the accepted form of the field. */
export function accepted(form: string): Refusal {
  return { params: { accepted: form } }
}

export function isAbsent(value: Json | undefined): value is null | undefined {
  return value === undefined || value === null
}

/** The value of another field in the object that contains the checked field. */
export function sibling(place: Place, key: string): Json | undefined {
  return Array.isArray(place.parent) ? undefined : place.parent[key]
}

// A rule that needs several fields or the configuration. The rule runs even if single fields were rejected, so that all
// faults are reported at once; it must therefore cope with fields of any type.

import type { Code, Json, JsonObject } from '@holdfast/contract'
import type { Params } from '../../reject.ts'
import type { AdmissionContext } from '../context.ts'
import { addFault, type FaultList, hasFaultAt, type Path } from './fault-list.ts'

export interface CrossRefusal {
  readonly path: Path
  readonly value: Json | undefined
  readonly params?: Params
}

export interface CrossRule {
  readonly code: Code
  /** The path of the field that the rule can reject. A test compares the path with the error catalogue. */
  readonly at: string
  /** Top-level fields that must have no faults, otherwise the rule does not run. */
  readonly needs: readonly string[]
  /** Finds faults. `sent` is the received body, `merged` is what would be stored, before defaults. */
  readonly refusals: (merged: JsonObject, sent: JsonObject, context: AdmissionContext) => CrossRefusal[]
}

/** Runs rules across fields. A path that was already rejected is not rejected a second time. */
export function applyCrossRules(
  rules: readonly CrossRule[],
  merged: JsonObject,
  sent: JsonObject,
  context: AdmissionContext,
  faults: FaultList,
): void {
  for (const rule of rules) {
    if (rule.needs.some((field) => faults.topLevel.has(field))) continue
    for (const { path, value, params } of rule.refusals(merged, sent, context)) {
      if (hasFaultAt(faults, path)) continue
      addFault(faults, rule.code, path, value, params === undefined ? true : { params })
    }
  }
}

/** Returns a function that reports whether an earlier call had the same key. */
export function createRepeatCheck(): (key: Json) => boolean {
  const seen = new Set<Json>()
  return (key) => {
    const repeated = seen.has(key)
    seen.add(key)
    return repeated
  }
}

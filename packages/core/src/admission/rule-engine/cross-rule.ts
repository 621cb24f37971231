// A rule that needs several fields or the configuration. It also runs if single fields were rejected, so that all
// faults are reported at once; it must therefore accept any shape of input.

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
  /** The path it can reject, for the test against the code catalogue. */
  readonly at: string
  /** Top-level fields that must have no faults for this rule to run. */
  readonly needs: readonly string[]
  /** `sent` is the received body, `merged` what would be stored before defaults. */
  readonly refusals: (merged: JsonObject, sent: JsonObject, context: AdmissionContext) => CrossRefusal[]
}

/** Paths that a rule on one field has rejected are not rejected again. */
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

/** Returns a function that reports whether it saw a key before. */
export function createRepeatCheck(): (key: Json) => boolean {
  const seen = new Set<Json>()
  return (key) => {
    const repeated = seen.has(key)
    seen.add(key)
    return repeated
  }
}

// A rule that needs more than one field, or the configuration. It judges the merged spec and copes with any shape,
// because it also runs when single fields were refused: all faults come at once.

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
  /** The patterns it can name, for the test against the code catalogue. */
  readonly at: string
  /** Top-level fields that must be free of faults for this rule to be worth asking. */
  readonly needs: readonly string[]
  /** `sent` is what came, `merged` what would be stored before defaults. */
  readonly refusals: (merged: JsonObject, sent: JsonObject, context: AdmissionContext) => CrossRefusal[]
}

/** What a rule on one field has refused already is not refused again. */
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

/** Whether a key came before, asked of one after another. */
export function createRepeatCheck(): (key: Json) => boolean {
  const seen = new Set<Json>()
  return (key) => {
    const repeated = seen.has(key)
    seen.add(key)
    return repeated
  }
}

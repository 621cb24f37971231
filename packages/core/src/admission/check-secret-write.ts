// Checks the body of PUT /secrets and of a rotation by the rules for a secret entry of a deployment. In rejections, the
// field paths have no `secrets[i]` prefix.

import {
  isJsonObject,
  type Json,
  type JsonObject,
  type Rejection,
  secretWriteShape,
} from '@holdfast/contract'
import { describeHidden } from '../credentials/index.ts'
import type { Limits } from '../limits.ts'
import { reject } from '../reject.ts'
import { materialIn, type WrittenMaterial } from '../secrets/written-material.ts'
import { admissionContext } from './context.ts'
import { compileRules } from './rule-engine/compile-rules.ts'
import { applyCrossRules } from './rule-engine/cross-rule.ts'
import { addFault, newFaultList } from './rule-engine/fault-list.ts'
import { isAbsent } from './rule-engine/rule.ts'
import { findUnknownFields } from './rule-engine/unknown-fields.ts'
import { walkFields } from './rule-engine/walk.ts'
import { writtenDocumentRules } from './rules/secret-documents.ts'
import { secretMaterialRules } from './rules/secret-material.ts'

export type SecretWriteVerdict =
  | { readonly accepted: false; readonly rejections: readonly Rejection[] }
  | { readonly accepted: true; readonly material: WrittenMaterial }

export interface SecretWriteRules {
  readonly limits: Limits
  /** Fields of the body that this check ignores, because other code checks them: `phase` and `secret` of a rotation. */
  readonly beside?: readonly string[]
}

const RULES = compileRules(secretWriteShape, secretMaterialRules(''))

export function checkSecretWrite(body: Json, { limits, beside = [] }: SecretWriteRules): SecretWriteVerdict {
  if (!isJsonObject(body)) {
    return refused([reject('field_type_invalid', '', body, { accepted: 'an object' }, describeHidden(body))])
  }
  const write = judgedPart(body, beside)
  const context = admissionContext({ limits })
  const faults = newFaultList(limits.rejections)
  findUnknownFields(RULES, write, context, faults, NONE)
  walkFields(RULES, write, context, faults)
  if (isAbsent(write.values) && isAbsent(write.generate))
    addFault(faults, 'secret_write_empty', ['values'], undefined, true)
  applyCrossRules(writtenDocumentRules, write, write, context, faults)
  return faults.rejections.length > 0
    ? refused(faults.rejections)
    : { accepted: true, material: materialIn(write, limits) }
}

/** The read-only fields of a secret write: there are none. */
const NONE: ReadonlySet<string> = new Set()

const refused = (rejections: readonly Rejection[]): SecretWriteVerdict => ({ accepted: false, rejections })

/** Replaces the value of each unknown field by its type and size, because the field may be a misspelled `values`. */
function judgedPart(body: JsonObject, beside: readonly string[]): JsonObject {
  const judged = Object.entries(body).filter(([key]) => !beside.includes(key))
  return Object.fromEntries(
    judged.map(([key, value]) => [key, RULES.fields.has(key) ? value : describeHidden(value)]),
  )
}

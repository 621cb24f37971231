// Checks the body of a workload and reports all faults at once, in the public order: forbidden fields, unknown and read-only
// fields, single fields, rules across fields, configuration (docs/design/admission.md#order).

import {
  isJsonObject,
  type Json,
  type JsonObject,
  READ_ONLY_FIELDS,
  type Rejection,
} from '@holdfast/contract'
import { reject } from '../reject.ts'
import type { AdmissionContext } from './context.ts'
import { mergeSent } from './normalize/merge.ts'
import { type CompiledNode, DEPLOYMENT_RULES } from './rule-engine/compile-rules.ts'
import { applyCrossRules } from './rule-engine/cross-rule.ts'
import { addFault, type FaultList, hasFaultAt, isFull, newFaultList } from './rule-engine/fault-list.ts'
import { accepted } from './rule-engine/rule.ts'
import { findUnknownFields } from './rule-engine/unknown-fields.ts'
import { walkFields } from './rule-engine/walk.ts'
import { CROSS_RULES } from './rule-list.ts'
import { entriesOf } from './rules/secret-lists.ts'

const FORBIDDEN = accepted('a token whose role may send this field')
const NO_MATERIAL = accepted(
  'a token whose role may write secrets; every role may reference an existing secret',
)
const MATERIAL_FIELDS = ['values', 'generate']

/** A kind of workload whose body is checked: its fields with their rules. The rules across fields are the same for all. */
export interface BodyKind {
  readonly kind: string
  readonly fields: CompiledNode
  /** Fields of the record that no client may send to create one. */
  readonly readOnly: ReadonlySet<string>
}

const DEPLOYMENT: BodyKind = {
  kind: 'Deployment',
  fields: DEPLOYMENT_RULES,
  readOnly: new Set(READ_ONLY_FIELDS),
}

/**
 * Returns no rejections for a valid deployment body. A body that is not an object gets one rejection with an empty
 * field. A body with another `kind` gets one rejection, and no rule checks its fields.
 */
export function checkBody(sent: Json, context: AdmissionContext): Rejection[] {
  return judgeBody(sent, context).rejections
}

export interface JudgedBody {
  readonly rejections: Rejection[]
  /** The fields without faults; undefined if no part of the body can be judged further. */
  readonly valid: ValidPart | undefined
}

/** The part of a body on which facts can be checked, although other fields have faults. */
export interface ValidPart {
  readonly fields: JsonObject
  /** Names of the top-level fields that have faults. */
  readonly faulty: ReadonlySet<string | number>
}

/** Checks a body as checkBody does, and returns which part of it can still be checked against facts. */
export function judgeBody(sent: Json, context: AdmissionContext, body: BodyKind = DEPLOYMENT): JudgedBody {
  if (!isJsonObject(sent)) {
    const rejection = reject('field_type_invalid', '', sent, { accepted: 'an object' })
    return { rejections: [rejection], valid: undefined }
  }
  if (!isOfKind(body, sent, context))
    return {
      rejections: [{ ...reject('manifest_wrong_kind', 'kind', sent.kind), expected: body.kind }],
      valid: undefined,
    }
  const faults = newFaultList(context.limits.rejections)
  findForbiddenFields(sent, context, faults)
  findUnknownFields(body.fields, sent, context, faults, body.readOnly)
  walkFields(body.fields, sent, context, faults)
  crossFields(sent, context, faults)
  return { rejections: faults.rejections, valid: isFull(faults) ? undefined : validPart(sent, faults) }
}

function validPart(sent: JsonObject, faults: FaultList): ValidPart {
  const faulty = new Set(faults.topLevel)
  const dependsOn = validEntries('dependsOn', sent.dependsOn, faults)
  if (dependsOn !== undefined) faulty.delete('dependsOn')
  const fields = Object.fromEntries(Object.entries(sent).filter(([name]) => !faulty.has(name)))
  return { fields: dependsOn === undefined ? fields : { ...fields, dependsOn }, faulty }
}

/** The entries of a map that have no faults; undefined if the map itself has one. */
function validEntries(name: string, map: Json | undefined, faults: FaultList): JsonObject | undefined {
  if (!isJsonObject(map) || hasFaultAt(faults, [name])) return undefined
  return Object.fromEntries(Object.entries(map).filter(([key]) => !hasFaultAt(faults, [name, key])))
}

function isOfKind(body: BodyKind, { kind }: JsonObject, { mode }: AdmissionContext): boolean {
  return kind === body.kind || (kind === undefined && mode === 'update')
}

function findForbiddenFields(sent: JsonObject, context: AdmissionContext, faults: FaultList): void {
  for (const key of Object.keys(sent)) {
    if (context.forbiddenFields?.has(key)) addFault(faults, 'permission_denied', [key], sent[key], FORBIDDEN)
    if (key === 'secrets' && context.materialForbidden === true) findForbiddenMaterial(sent, faults)
  }
}

/** Rejects secret values in a deployment body if the caller may not write secrets. */
function findForbiddenMaterial(sent: JsonObject, faults: FaultList): void {
  for (const [index, entry] of entriesOf(sent)) {
    for (const field of MATERIAL_FIELDS) {
      const value = entry[field]
      if (value !== undefined)
        addFault(faults, 'permission_denied', ['secrets', index, field], value, NO_MATERIAL)
    }
  }
}

function crossFields(sent: JsonObject, context: AdmissionContext, faults: FaultList): void {
  const merged = mergeSent(sent, context.current)
  if (context.pathName !== undefined) merged.name = context.pathName
  applyCrossRules(CROSS_RULES, merged, sent, context, faults)
}

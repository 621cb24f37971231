// All faults of a body at once, in the public order: what the role may not send, unknown and read-only fields, fields,
// then the rules across fields and what configuration switches off. DECISIONS 2, Order.

import { isJsonObject, type Json, type JsonObject, type Rejection } from '@holdfast/contract'
import { CROSS_RULES } from './catalogue.ts'
import { DEPLOYMENT_RULES } from './compile-rules.ts'
import type { AdmissionContext } from './context.ts'
import { addFault, type FaultList, hasFaultAt, newFaultList } from './fault-list.ts'
import { mergeSent } from './merge.ts'
import { reject } from './reject.ts'
import { accepted } from './rule.ts'
import { findUnknownFields } from './unknown-fields.ts'
import { walkFields } from './walk.ts'

const FORBIDDEN = accepted('a role that may send this field')

/**
 * Empty: the body is sound and may be normalised. A body that is no object has nothing that a path could name, so its one
 * rejection has the empty field; a document of another kind is not judged as a deployment at all.
 */
export function checkBody(sent: Json, context: AdmissionContext): Rejection[] {
  if (!isJsonObject(sent)) {
    return [reject('field_type_invalid', '', sent, { accepted: 'an object' })]
  }
  if (!isDeploymentKind(sent, context)) return [reject('manifest_wrong_kind', 'kind', sent.kind)]
  const faults = newFaultList(context.limits.rejections)
  findForbiddenFields(sent, context, faults)
  findUnknownFields(DEPLOYMENT_RULES, sent, context, faults)
  walkFields(DEPLOYMENT_RULES, sent, context, faults)
  crossFields(sent, context, faults)
  return faults.rejections
}

function isDeploymentKind({ kind }: JsonObject, { mode }: AdmissionContext): boolean {
  return kind === 'Deployment' || (kind === undefined && mode === 'update')
}

function findForbiddenFields(sent: JsonObject, context: AdmissionContext, faults: FaultList): void {
  if (context.forbiddenFields === undefined) return
  for (const key of Object.keys(sent)) {
    if (context.forbiddenFields.has(key)) addFault(faults, 'permission_denied', [key], sent[key], FORBIDDEN)
  }
}

function crossFields(sent: JsonObject, context: AdmissionContext, faults: FaultList): void {
  const merged = mergeSent(sent, context.current)
  if (context.pathName !== undefined) merged.name = context.pathName
  for (const rule of CROSS_RULES) {
    if (rule.needs.some((field) => faults.topLevel.has(field))) continue
    for (const { path, value, params } of rule.refusals(merged, sent, context)) {
      if (hasFaultAt(faults, path)) continue
      addFault(faults, rule.code, path, value, params === undefined ? true : { params })
    }
  }
}

// Walks a request body once, in the order of the shape, and reports for each value the first rule that rejects it.

import { isOfType, type Json, type JsonObject } from '@holdfast/contract'
import type { AdmissionContext } from '../context.ts'
import type { CompiledNode } from './compile-rules.ts'
import { addFault, type FaultList, isFull } from './fault-list.ts'
import { accepted, type Place, type Rule } from './rule.ts'

interface Walk {
  readonly sent: JsonObject
  readonly context: AdmissionContext
  readonly faults: FaultList
  /** Path of the value being checked. The path is converted to text only for a fault. */
  readonly path: (string | number)[]
}

export function walkFields(
  root: CompiledNode,
  sent: JsonObject,
  context: AdmissionContext,
  faults: FaultList,
): void {
  const walk: Walk = { sent, context, faults, path: [] }
  for (const [name, node] of root.fieldList) {
    const value = sent[name]
    // An update keeps the stored value of each field that was not sent, so absent fields need no check.
    if (value === undefined && context.mode === 'update') continue
    visit(node, value, name, sent, walk)
  }
}

function visit(
  node: CompiledNode,
  value: Json | undefined,
  step: string | number,
  parent: JsonObject | Json[],
  walk: Walk,
): void {
  if (isFull(walk.faults)) return
  if (value === undefined && node.requiredRules.length === 0) return
  walk.path.push(step)
  const place: Place = { key: typeof step === 'string' ? step : String(step), parent, sent: walk.sent }
  if (hasRightType(node, value, place, walk)) {
    const refused = refuseFirst(node.rules, value, place, walk)
    // Elements of a list that is too long are not checked, so that the work on one body is bounded.
    if (refused?.stage !== 'length') descend(node, value, walk)
  }
  walk.path.pop()
}

/** Checks type and presence of a value. False if the value was rejected or is absent; then no other rule runs. */
function hasRightType(node: CompiledNode, value: Json | undefined, place: Place, walk: Walk): boolean {
  if (value !== undefined && refuseFirst(node.typeRules, value, place, walk)) return false
  const isPresent = value !== undefined && value !== null
  if (isPresent && !isOfType(node.shape, value)) return refuseType(node, value, walk)
  if (refuseFirst(node.requiredRules, value, place, walk)) return false
  // At the top level, null clears the field. Inside a field, null is a value of the wrong type.
  if (value === null && walk.path.length > 1) return refuseType(node, value, walk)
  return isPresent
}

function refuseType(node: CompiledNode, value: Json, walk: Walk): false {
  addFault(walk.faults, 'field_type_invalid', walk.path, value, accepted(node.described))
  return false
}

function refuseFirst(
  rules: readonly Rule[],
  value: Json | undefined,
  place: Place,
  walk: Walk,
): Rule | undefined {
  for (const rule of rules) {
    const verdict = rule.refuses(value, walk.context, place)
    if (verdict === false) continue
    addFault(walk.faults, rule.code, walk.path, value, verdict)
    return rule
  }
  return undefined
}

function descend(node: CompiledNode, value: Json | undefined, walk: Walk): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) visitElements(node.element, value, walk)
  else if (node.element !== undefined) visitEntries(node.element, value, walk)
  else for (const [name, field] of node.fieldList) visit(field, value[name], name, value, walk)
}

function visitElements(element: CompiledNode | undefined, list: Json[], walk: Walk): void {
  if (element === undefined) return
  for (let index = 0; index < list.length; index++) visit(element, list[index], index, list, walk)
}

function visitEntries(element: CompiledNode, map: JsonObject, walk: Walk): void {
  for (const key of Object.keys(map)) visit(element, map[key], key, map, walk)
}

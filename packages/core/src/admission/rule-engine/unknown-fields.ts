// Finds unknown and read-only fields, in the order in which they were sent. Unknown fields are rejected, never ignored
// (docs/design/admission.md#strict-bodies).

import { isJsonObject, type Json, type JsonObject } from '@holdfast/contract'
import type { AdmissionContext } from '../context.ts'
import type { CompiledNode } from './compile-rules.ts'
import { addFault, type FaultList, isFull } from './fault-list.ts'
import { accepted } from './rule.ts'

type Steps = (string | number)[]

export function findUnknownFields(
  root: CompiledNode,
  sent: JsonObject,
  context: AdmissionContext,
  faults: FaultList,
  readOnly: ReadonlySet<string>,
): void {
  const path: Steps = []
  for (const key of Object.keys(sent)) {
    const value = sent[key]
    if (value === undefined) continue
    if (readOnly.has(key)) judgeReadOnly(key, value, context, faults)
    else visitField(root, key, value, path, faults)
  }
}

/** Checks a read-only field. A PUT may repeat what GET returned, but never with the uid of another deployment. */
function judgeReadOnly(key: string, value: Json, context: AdmissionContext, faults: FaultList): void {
  const isForeignUid = key === 'uid' && context.current !== undefined && value !== context.current.uid
  if (context.mode === 'create' || isForeignUid) addFault(faults, 'field_read_only', [key], value, true)
}

function visitField(node: CompiledNode, key: string, value: Json, path: Steps, faults: FaultList): void {
  if (isFull(faults)) return
  path.push(key)
  const field = node.fields.get(key)
  // Every fault inside a mount has one code.
  const code = path[0] === 'volumes' && path.length > 1 ? 'volume_mount_shape' : 'field_unknown'
  if (field === undefined) addFault(faults, code, path, value, accepted(node.accepted))
  else visitInside(field, value, path, faults)
  path.pop()
}

function visitInside(node: CompiledNode, value: Json, path: Steps, faults: FaultList): void {
  if (node.shape.kind === 'list' && node.element?.shape.kind === 'object' && Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      path.push(index)
      visitInside(node.element, value[index] ?? null, path, faults)
      path.pop()
    }
  }
  if (node.shape.kind !== 'object' || !isJsonObject(value)) return
  for (const key of Object.keys(value)) visitField(node, key, value[key] ?? null, path, faults)
}

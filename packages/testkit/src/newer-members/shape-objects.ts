// The objects of a record that its shape describes. Only these can have unknown members: the keys of a map are data, and
// the server does not look into a value of any JSON.

import type { ShapeNode } from '@holdfast/contract'
import { canonicalJson, isJsonObject, type Json, type JsonObject } from '@holdfast/contract'

type Fields = { readonly [name: string]: ShapeNode }

export interface DescribedObject {
  /** Names of fields and keys of maps from the record to the object; list elements are named by what identifies them. */
  readonly path: readonly string[]
  readonly value: JsonObject
  readonly fields: Fields
}

export function* objectsIn(
  shape: ShapeNode,
  value: Json | undefined,
  path: readonly string[] = [],
): Generator<DescribedObject> {
  if (shape.kind === 'optional' || shape.kind === 'nullable') yield* objectsIn(shape.inner, value, path)
  else if (shape.kind === 'list' && Array.isArray(value))
    for (const element of value)
      yield* objectsIn(shape.element, element, [...path, identityOf(shape.element, element)])
  else if (shape.kind === 'map' && isJsonObject(value))
    for (const [key, member] of Object.entries(value)) yield* objectsIn(shape.value, member, [...path, key])
  else if (shape.kind === 'object' && isJsonObject(value)) {
    yield { path, value, fields: shape.fields }
    for (const [name, field] of Object.entries(shape.fields))
      yield* objectsIn(field, value[name], [...path, name])
  }
}

export const unknownOf = ({ value, fields }: DescribedObject): [string, Json][] =>
  Object.entries(value).filter(([name]) => !Object.hasOwn(fields, name))

/** The text of a record without unknown members. */
export function knownText(shape: ShapeNode, record: JsonObject): string {
  const copy = structuredClone(record)
  for (const object of [...objectsIn(shape, copy)])
    for (const [name] of unknownOf(object)) Reflect.deleteProperty(object.value, name)
  return canonicalJson(copy)
}

/** Fields that identify an element of a list, the first that the element has. */
const IDENTITIES = [['id'], ['name'], ['version'], ['tenant'], ['host', 'path'], ['target']]

function identityOf(shape: ShapeNode, element: Json): string {
  if (shape.kind !== 'object' || !isJsonObject(element)) return JSON.stringify(element)
  const names = IDENTITIES.find(([first = '']) => Object.hasOwn(shape.fields, first))
  const identifying = (names ?? Object.keys(shape.fields)).map((name) => element[name])
  return JSON.stringify(identifying)
}

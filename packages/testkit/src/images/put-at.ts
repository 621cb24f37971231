// Changes one field of a JSON object in tests, independently of the product's own code for changes, which is under test.

import type { Json, JsonObject } from '@holdfast/contract'

const ELEMENT = /^(.*)\[(\d+)\]$/

/**
 * Sets the value at a path of field names, with `routes[0]` for an array element. All parents of the field must exist.
 */
export function putAt(target: JsonObject, [key = '', ...rest]: string[], value: Json): void {
  const inner = memberAt(target, key)
  if (rest.length === 0) target[key] = value
  else if (typeof inner === 'object' && inner !== null && !Array.isArray(inner)) putAt(inner, rest, value)
  else throw new Error(`the parent ${key} of an alteration is missing`)
}

function memberAt(target: JsonObject, key: string): Json | undefined {
  const [, list = '', index] = ELEMENT.exec(key) ?? []
  const found = index === undefined ? undefined : target[list]
  return Array.isArray(found) ? found[Number(index)] : target[key]
}

// How the tests apply an alteration by themselves, without the code that they judge.

import type { Json, JsonObject } from '@holdfast/contract'

const ELEMENT = /^(.*)\[(\d+)\]$/

/** Sets what stands at a path of field names, `routes[0]` for an element; what leads there must exist already. */
export function putAt(target: JsonObject, [key = '', ...rest]: string[], value: Json): void {
  const inner = memberAt(target, key)
  if (rest.length === 0) target[key] = value
  else if (typeof inner === 'object' && inner !== null && !Array.isArray(inner)) putAt(inner, rest, value)
  else throw new Error(`an alteration inside ${key}, which is not there`)
}

function memberAt(target: JsonObject, key: string): Json | undefined {
  const [, list = '', index] = ELEMENT.exec(key) ?? []
  const found = index === undefined ? undefined : target[list]
  return Array.isArray(found) ? found[Number(index)] : target[key]
}

// How the tests apply an alteration by themselves, without the code that they judge.

import type { Json, JsonObject } from '@holdfast/contract'

/** Sets what stands at a path of field names; what leads there must exist already. */
export function putAt(target: JsonObject, [key = '', ...rest]: string[], value: Json): void {
  const inner = target[key]
  if (rest.length === 0) target[key] = value
  else if (typeof inner === 'object' && inner !== null && !Array.isArray(inner)) putAt(inner, rest, value)
  else throw new Error(`an alteration inside ${key}, which is not there`)
}

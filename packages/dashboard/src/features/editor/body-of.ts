// The body of the request for an edited manifest. An update keeps the fields that are not sent, so a field that was removed
// from the text is sent as null, which clears it.

import { isJsonObject, type Json, type JsonObject } from '@holdfast/contract'

/** `loaded`: the fields from which the text was made. */
export function updateBody(loaded: JsonObject, value: Json): JsonObject {
  const sent = isJsonObject(value) ? value : {}
  const removed = Object.keys(loaded).filter((name) => sent[name] === undefined)
  return { ...sent, ...Object.fromEntries(removed.map((name) => [name, null])) }
}

/** The fields that differ from the loaded ones, for a canary. */
export function changedBody(loaded: JsonObject, value: Json): JsonObject {
  const body = updateBody(loaded, value)
  const changed = Object.entries(body).filter(
    ([name, member]) => !IDENTITY.has(name) && JSON.stringify(member) !== JSON.stringify(loaded[name]),
  )
  return Object.fromEntries(changed)
}

const IDENTITY = new Set(['kind', 'name'])

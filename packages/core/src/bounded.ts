// Hostile sizes must not cost time where only 256 characters are quoted: the first so many values of a tree, the first
// characters of a key. What is cut off is not quoted, so it needs no redaction either.

import { isJsonObject, type Json, type JsonObject } from '@holdfast/contract'

/** Each value is at least two characters of JSON text, so these fill more than what is quoted. */
const QUOTED_VALUES = 256
const QUOTED_KEY = 128
/** Judged as a whole before it is cut, so that no credential is cut in half. */
const JUDGED_KEY = 512

/** The same beginning of the JSON text, whatever the size of the value. */
export function boundedValue(value: Json | undefined, budget = { left: QUOTED_VALUES }): Json | undefined {
  budget.left--
  if (Array.isArray(value)) return boundedList(value, budget)
  return isJsonObject(value) ? boundedObject(value, budget) : value
}

function boundedList(list: Json[], budget: { left: number }): Json[] {
  const first: Json[] = []
  for (const element of list) {
    if (budget.left <= 0) break
    first.push(boundedValue(element, budget) ?? null)
  }
  return first
}

function boundedObject(object: JsonObject, budget: { left: number }): JsonObject {
  const first: JsonObject = Object.create(null)
  for (const key in object) {
    if (budget.left <= 0) break
    first[key] = boundedValue(object[key], budget) ?? null
  }
  return first
}

/** `redact` sees enough of the key to recognise what must not be shown. */
export function boundedKey(key: string, redact: (key: string) => string): string {
  const safe = redact(key.length <= JUDGED_KEY ? key : key.slice(0, JUDGED_KEY))
  return key.length <= QUOTED_KEY || safe.length <= QUOTED_KEY ? safe : `${safe.slice(0, QUOTED_KEY)}...`
}

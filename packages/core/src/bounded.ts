// Limits the work on hostile input. Only the first values of a tree and the first characters of a key are processed,
// because a rejection quotes no more than 256 characters.

import { isJsonObject, type Json, type JsonObject } from '@holdfast/contract'

/** Number of values that a quote keeps. As JSON each value has at least two characters, so 256 values fill any quote. */
const QUOTED_VALUES = 256
const QUOTED_KEY = 128
/** Number of characters of a key that are searched for credentials before the key is cut to its final length. */
const JUDGED_KEY = 512

/** A value with fewer elements, whose JSON text begins like the JSON text of the given value. */
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

/** Shortens a key. `redact` gets enough of the key to recognize a credential. */
export function boundedKey(key: string, redact: (key: string) => string): string {
  const safe = redact(key.length <= JUDGED_KEY ? key : key.slice(0, JUDGED_KEY))
  return key.length <= QUOTED_KEY || safe.length <= QUOTED_KEY ? safe : `${safe.slice(0, QUOTED_KEY)}...`
}

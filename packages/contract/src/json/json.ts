// JSON values. Whole numbers above 2^53 are represented as bigint, because a double would round them.

export type Json = null | boolean | number | bigint | string | Json[] | JsonObject
export interface JsonObject {
  [key: string]: Json
}

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The JSON text of a value. Unlike JSON.stringify, this function supports bigint. */
export function jsonText(value: Json): string {
  return write(value, Object.keys)
}

/** Converts whole numbers above 2^53 to strings, for JSON.stringify, which does not support bigint. */
export function withoutBigInts(value: Json): Json {
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) return value.map(withoutBigInts)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withoutBigInts(member)]))
}

/** JSON text with sorted keys at every level, so that equal values have equal text. Used for the spec hash. */
export function canonicalJson(value: Json): string {
  return write(value, (object) => Object.keys(object).sort())
}

function write(value: Json, keysOf: (object: JsonObject) => string[]): string {
  if (typeof value === 'string') return quote(value)
  if (Array.isArray(value)) return `[${value.map((element) => write(element, keysOf)).join(',')}]`
  if (!isJsonObject(value)) return String(value)
  let members = ''
  for (const key of keysOf(value)) {
    const member = value[key]
    if (member !== undefined) members += `${members === '' ? '' : ','}${quote(key)}:${write(member, keysOf)}`
  }
  return `{${members}}`
}

/** Matches strings that need no JSON escaping. Most strings match, and the test is cheaper than escaping. */
const PLAIN = /^[ !#-[\]-~]*$/
const quote = (text: string): string => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(text))

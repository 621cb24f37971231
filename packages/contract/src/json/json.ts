// JSON values. Whole numbers above 2^53 are bigint, so that they stay exact.

export type Json = null | boolean | number | bigint | string | Json[] | JsonObject
export interface JsonObject {
  [key: string]: Json
}

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The JSON text of a value. Unlike JSON.stringify it supports bigint. */
export function jsonText(value: Json): string {
  return write(value, Object.keys)
}

/** For JSON.stringify, which does not support bigint: whole numbers above 2^53 become text. */
export function withoutBigInts(value: Json): Json {
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) return value.map(withoutBigInts)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withoutBigInts(member)]))
}

/** JSON text with sorted keys at every level: equal values have equal text. The spec hash is computed from it. */
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

/** Most texts need no escaping, and testing for that is cheaper than escaping. */
const PLAIN = /^[ !#-[\]-~]*$/
const quote = (text: string): string => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(text))

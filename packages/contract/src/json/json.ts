// A JSON value as our own reader yields it: whole numbers past 2^53 are bigint.

export type Json = null | boolean | number | bigint | string | Json[] | JsonObject
export interface JsonObject {
  [key: string]: Json
}

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The JSON text of a value; unlike JSON.stringify it knows bigint. */
export function jsonText(value: Json): string {
  return write(value, Object.keys)
}

/** For JSON.stringify, which knows no bigint: a whole number past 2^53 becomes its text. */
export function withoutBigInts(value: Json): Json {
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) return value.map(withoutBigInts)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withoutBigInts(member)]))
}

/** Keys in code-unit order at every level: equal values have equal text. DECISIONS 4, specHash. */
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

/** Most texts hold nothing to escape; finding that out is cheaper than escaping. */
const PLAIN = /^[ !#-[\]-~]*$/
const quote = (text: string): string => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(text))

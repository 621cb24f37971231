// A JSON value as our own tokenizer yields it: objects without a prototype, whole numbers past 2^53 as bigint.

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

/** Keys in code-unit order at every level: equal values have equal text. DECISIONS 4, specHash. */
export function canonicalJson(value: Json): string {
  return write(value, (object) => Object.keys(object).sort())
}

function write(value: Json, keysOf: (object: JsonObject) => string[]): string {
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) return `[${value.map((element) => write(element, keysOf)).join(',')}]`
  if (!isJsonObject(value)) return JSON.stringify(value)
  const members = keysOf(value).flatMap((key) => {
    const member = value[key]
    return member === undefined ? [] : [`${JSON.stringify(key)}:${write(member, keysOf)}`]
  })
  return `{${members.join(',')}}`
}

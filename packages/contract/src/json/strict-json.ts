// Reads a request body strictly: RFC 8259, and stricter where two parsers could disagree. No duplicate keys, bounded
// depth, no byte order mark, no half surrogate pairs, exact whole numbers.

import { childPath, elementPath } from '../shapes/field-path.ts'
import type { Json, JsonObject } from './json.ts'
import { readPlainJson } from './plain-json.ts'
import { type Cursor, fail, type StrictJsonFaultKind, unwind } from './strict-json-cursor.ts'
import { readNumber } from './strict-json-number.ts'
import { readString } from './strict-json-string.ts'
import { decodeUtf8, utf8Length, validUtf8Length } from './strict-json-utf8.ts'

export interface StrictJsonFault {
  readonly kind: StrictJsonFaultKind
  /** Byte offset of the fault in the body. */
  readonly offset: number
  /** Line of the fault, starting at 1. */
  readonly line: number
  /** Column of the fault, starting at 1, counted in characters and not in bytes. */
  readonly column: number
  /** Message for the fault. It quotes nothing of the body. */
  readonly message: string
  /** Path of the invalid value or repeated key; absent at the top level. Keys are not redacted: see `safeKey` in core. */
  readonly path?: string
}

export type StrictJsonResult =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly fault: StrictJsonFault }

export const MAX_JSON_DEPTH = 32
/** The greatest nesting depth that a caller may allow. The reader recurses per level and needs stack for each. */
const DEPTH_CEILING = 512
/** In the path of a fault, a key longer than this is replaced by its length. */
const MAX_KEY_IN_PATH = 256

interface StrictJsonOptions {
  readonly maxDepth?: number
  /** Limit on the number of members and elements: small values take ten times as long to read as text of equal size. */
  readonly maxValues?: number
}

/** Reads a JSON body strictly. `__proto__` is an ordinary key. The time is linear in the number of bytes. */
export function parseStrictJson(bytes: Uint8Array, options: StrictJsonOptions = {}): StrictJsonResult {
  const text = decodeUtf8(bytes)
  if (text === undefined) return { ok: false, fault: explainBadUtf8(bytes) }
  const maxDepth = Math.min(options.maxDepth ?? MAX_JSON_DEPTH, DEPTH_CEILING)
  const maxValues = options.maxValues ?? Number.POSITIVE_INFINITY
  const plain = readPlainJson(text, maxDepth, maxValues)
  if (plain !== undefined) return { ok: true, value: plain }
  const cursor: Cursor = { text, at: 0, maxDepth, maxValues, values: 0, failure: undefined, trail: [] }
  const value = readDocument(cursor)
  return value === undefined ? { ok: false, fault: explainFailure(cursor) } : { ok: true, value }
}

function readDocument(cursor: Cursor): Json | undefined {
  if (cursor.text.charCodeAt(0) === 0xfeff) {
    return fail(cursor, 'encoding', 0, 'the body starts with a byte order mark; send UTF-8 without one')
  }
  skipSpace(cursor)
  const value = readValue(cursor, 0)
  if (value === undefined) return undefined
  skipSpace(cursor)
  if (cursor.at === cursor.text.length) return value
  return fail(cursor, 'syntax', cursor.at, 'nothing may follow the value')
}

/** Skips white space. Returns the code of the next character, or NaN at the end of the text. */
function skipSpace(cursor: Cursor): number {
  const { text } = cursor
  let at = cursor.at
  let code = text.charCodeAt(at)
  while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) code = text.charCodeAt(++at)
  cursor.at = at
  return code
}

function readValue(cursor: Cursor, depth: number): Json | undefined {
  switch (cursor.text.charCodeAt(cursor.at)) {
    case 0x22:
      return readString(cursor)
    case 0x7b:
      return readObject(cursor, depth)
    case 0x5b:
      return readArray(cursor, depth)
    case 0x74:
      return readLiteral(cursor, 'true', true)
    case 0x66:
      return readLiteral(cursor, 'false', false)
    case 0x6e:
      return readLiteral(cursor, 'null', null)
    default:
      return readNumberOrFail(cursor)
  }
}

function readNumberOrFail(cursor: Cursor): number | bigint | undefined {
  const code = cursor.text.charCodeAt(cursor.at)
  if (code === 0x2d || (code >= 0x30 && code <= 0x39)) return readNumber(cursor)
  return fail(cursor, 'syntax', cursor.at, 'a JSON value is expected here')
}

function readLiteral<T extends boolean | null>(cursor: Cursor, word: string, value: T): T | undefined {
  const { at } = cursor
  if (!cursor.text.startsWith(word, at)) return fail(cursor, 'syntax', at, 'a JSON value is expected here')
  cursor.at = at + word.length
  return value
}

function readArray(cursor: Cursor, depth: number): Json[] | undefined {
  if (depth >= cursor.maxDepth) return failDepth(cursor)
  const elements: Json[] = []
  cursor.at++
  if (skipSpace(cursor) === 0x5d) {
    cursor.at++
    return elements
  }
  for (;;) {
    if (++cursor.values > cursor.maxValues) return failValues(cursor)
    const element = readValue(cursor, depth + 1)
    if (element === undefined) return unwind(cursor, elements.length)
    elements.push(element)
    const next = skipSpace(cursor)
    cursor.at++
    if (next === 0x5d) return elements
    if (next !== 0x2c) return fail(cursor, 'syntax', cursor.at - 1, 'a comma or ] is expected here')
    skipSpace(cursor)
  }
}

function readObject(cursor: Cursor, depth: number): JsonObject | undefined {
  if (depth >= cursor.maxDepth) return failDepth(cursor)
  const object: JsonObject = Object.create(null)
  cursor.at++
  if (skipSpace(cursor) === 0x7d) {
    cursor.at++
    return object
  }
  for (;;) {
    if (++cursor.values > cursor.maxValues) return failValues(cursor)
    const key = readKey(cursor, object)
    if (key === undefined) return undefined
    const member = readValue(cursor, depth + 1)
    if (member === undefined) return unwind(cursor, key)
    object[key] = member
    const next = skipSpace(cursor)
    cursor.at++
    if (next === 0x7d) return object
    if (next !== 0x2c) return fail(cursor, 'syntax', cursor.at - 1, 'a comma or } is expected here')
    skipSpace(cursor)
  }
}

/** Reads a key, its colon, and the white space before the value. A key that the object already has is a fault. */
function readKey(cursor: Cursor, object: JsonObject): string | undefined {
  const start = cursor.at
  if (cursor.text.charCodeAt(start) !== 0x22) {
    return fail(cursor, 'syntax', start, 'a key in double quotes is expected here')
  }
  const key = readString(cursor)
  if (key === undefined) return undefined
  if (object[key] !== undefined) {
    fail(cursor, 'duplicate_key', start, 'the key is already in this object')
    return unwind(cursor, key)
  }
  if (skipSpace(cursor) !== 0x3a) return fail(cursor, 'syntax', cursor.at, 'a colon is expected here')
  cursor.at++
  skipSpace(cursor)
  return key
}

function failDepth(cursor: Cursor): undefined {
  return fail(cursor, 'depth', cursor.at, `objects and lists may be nested at most ${cursor.maxDepth} deep`)
}

function failValues(cursor: Cursor): undefined {
  return fail(
    cursor,
    'values',
    cursor.at,
    `objects and lists may hold at most ${cursor.maxValues} values in all`,
  )
}

function explainFailure(cursor: Cursor): StrictJsonFault {
  const { kind, at, message } = cursor.failure ?? { kind: 'syntax', at: 0, message: 'unreadable' }
  const path = cursor.trail.reduceRight<string>(
    (parent, segment) =>
      typeof segment === 'number' ? elementPath(parent, segment) : childPath(parent, shortKey(segment)),
    '',
  )
  return { kind, ...positionOf(cursor.text.slice(0, at)), message, ...(path === '' ? {} : { path }) }
}

function shortKey(key: string): string {
  return key.length > MAX_KEY_IN_PATH ? `<key of ${key.length} characters>` : key
}

function explainBadUtf8(bytes: Uint8Array): StrictJsonFault {
  const before = decodeUtf8(bytes.subarray(0, validUtf8Length(bytes))) ?? ''
  return { kind: 'encoding', ...positionOf(before), message: 'these bytes are not UTF-8' }
}

function positionOf(before: string): Pick<StrictJsonFault, 'offset' | 'line' | 'column'> {
  let line = 1
  let lineStart = 0
  for (let at = before.indexOf('\n'); at >= 0; at = before.indexOf('\n', at + 1)) {
    line++
    lineStart = at + 1
  }
  let column = 1
  for (const _ of before.slice(lineStart)) column++
  return { offset: utf8Length(before), line, column }
}

// Reads a string of strict JSON (RFC 8259, section 7). Escapes that leave half a surrogate pair are rejected, because
// such a string has no UTF-8 form and could not be stored unchanged.

import { type Cursor, fail } from './strict-json-cursor.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const LETTER_U = 0x75

/** Reads a string. The cursor must be at the opening quote, and is moved behind the closing quote. */
export function readString(cursor: Cursor): string | undefined {
  const { text } = cursor
  const start = cursor.at + 1
  const end = endOfRun(text, start)
  if (text.charCodeAt(end) !== QUOTE) return readEscaped(cursor, start, end)
  cursor.at = end + 1
  return text.slice(start, end)
}

/** Index of the first character of a string that cannot be copied unchanged: a quote, backslash or control character. */
function endOfRun(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE || code === BACKSLASH || code < 0x20) return at
  }
  return text.length
}

function readEscaped(cursor: Cursor, start: number, firstStop: number): string | undefined {
  const { text } = cursor
  let read = text.slice(start, firstStop)
  let at = firstStop
  while (text.charCodeAt(at) === BACKSLASH) {
    cursor.at = at
    const escaped = readEscape(cursor)
    if (escaped === undefined) return undefined
    at = endOfRun(text, cursor.at)
    read += at === cursor.at ? escaped : escaped + text.slice(cursor.at, at)
  }
  if (at >= text.length) return fail(cursor, 'syntax', at, 'the text ends inside a string')
  if (text.charCodeAt(at) !== QUOTE) return fail(cursor, 'syntax', at, RAW_CONTROL)
  cursor.at = at + 1
  return read
}

const RAW_CONTROL = 'a control character inside a string must be written as an escape'

const SIMPLE_ESCAPES: { readonly [code: number]: string } = {
  34: '"',
  47: '/',
  92: '\\',
  98: '\b',
  102: '\f',
  110: '\n',
  114: '\r',
  116: '\t',
}

/** Reads an escape sequence. The cursor must be at the backslash, and is moved behind the escape sequence. */
function readEscape(cursor: Cursor): string | undefined {
  const at = cursor.at
  const code = cursor.text.charCodeAt(at + 1)
  if (code === LETTER_U) return readUnicodeEscape(cursor)
  const escaped = SIMPLE_ESCAPES[code]
  if (escaped === undefined) return fail(cursor, 'syntax', at, 'not a JSON escape')
  cursor.at = at + 2
  return escaped
}

function readUnicodeEscape(cursor: Cursor): string | undefined {
  const { text, at } = cursor
  const first = hex4(text, at + 2)
  if (first < 0) return fail(cursor, 'syntax', at, 'four hexadecimal digits must follow \\u')
  if (first < 0xd800 || first > 0xdfff) {
    cursor.at = at + 6
    return String.fromCharCode(first)
  }
  const paired = text.charCodeAt(at + 6) === BACKSLASH && text.charCodeAt(at + 7) === LETTER_U
  const second = paired ? hex4(text, at + 8) : -1
  if (first > 0xdbff || second < 0xdc00 || second > 0xdfff)
    return fail(cursor, 'encoding', at, LONE_SURROGATE)
  cursor.at = at + 12
  return String.fromCharCode(first, second)
}

const LONE_SURROGATE = 'an escape that is half a surrogate pair stands for no character'

/** Reads four hexadecimal digits. Minus one if there are fewer than four. */
function hex4(text: string, from: number): number {
  let value = 0
  for (let at = from; at < from + 4; at++) {
    const digit = hexDigit(text.charCodeAt(at))
    if (digit < 0) return -1
    value = value * 16 + digit
  }
  return value
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const lower = code | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}

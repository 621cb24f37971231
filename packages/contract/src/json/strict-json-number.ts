// Reads a number of strict JSON (RFC 8259, section 6). Whole numbers are exact at any size. A number that a double
// cannot hold is rejected, never rounded to infinity.

import { type Cursor, fail } from './strict-json-cursor.ts'

const MINUS = 0x2d
const PLUS = 0x2b
const POINT = 0x2e
const ZERO = 0x30
const LOWER_E = 0x65

/** Longest accepted number in characters, far above the range of a double. Converting longer texts to bigint is slow. */
const MAX_NUMBER_LENGTH = 400
/** Number of digits up to which every whole number is below 2^53. */
export const PLAIN_DIGITS = 15

/** Reads a number. The cursor must be at a minus or a digit, and is moved behind the number. */
export function readNumber(cursor: Cursor): number | bigint | undefined {
  const { text, at } = cursor
  const digits = text.charCodeAt(at) === MINUS ? at + 1 : at
  const wholeEnd = endOfDigits(text, digits)
  if (wholeEnd === digits) return fail(cursor, 'syntax', digits, 'a digit must follow the minus')
  if (wholeEnd > digits + 1 && text.charCodeAt(digits) === ZERO) {
    return fail(cursor, 'syntax', digits, 'a number must not start with a zero')
  }
  const end = endOfNumber(cursor, wholeEnd)
  if (end === undefined) return undefined
  cursor.at = end
  if (end !== wholeEnd || end - digits > PLAIN_DIGITS) return convert(cursor, at, end, end === wholeEnd)
  const value = plainValue(text, digits, end)
  return digits === at || value === 0 ? value : -value
}

function endOfDigits(text: string, from: number): number {
  let at = from
  while (isDigit(text.charCodeAt(at))) at++
  return at
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= 0x39
}

/** Reads the fraction and the exponent of a number. */
function endOfNumber(cursor: Cursor, wholeEnd: number): number | undefined {
  const { text } = cursor
  let end = wholeEnd
  if (text.charCodeAt(end) === POINT) {
    end = endOfDigits(text, wholeEnd + 1)
    if (end === wholeEnd + 1) return fail(cursor, 'syntax', end, 'a digit must follow the decimal point')
  }
  if ((text.charCodeAt(end) | 0x20) !== LOWER_E) return end
  const sign = text.charCodeAt(end + 1)
  const digits = sign === PLUS || sign === MINUS ? end + 2 : end + 1
  end = endOfDigits(text, digits)
  return end === digits ? fail(cursor, 'syntax', end, 'a digit must follow the exponent sign') : end
}

function plainValue(text: string, from: number, end: number): number {
  let value = 0
  for (let at = from; at < end; at++) value = value * 10 + (text.charCodeAt(at) - ZERO)
  return value
}

function convert(cursor: Cursor, start: number, end: number, whole: boolean): number | bigint | undefined {
  if (end - start > MAX_NUMBER_LENGTH) {
    return fail(cursor, 'number', start, `a number may have at most ${MAX_NUMBER_LENGTH} characters`)
  }
  const digits = cursor.text.slice(start, end)
  const value = Number(digits)
  if (!Number.isFinite(value)) return fail(cursor, 'number', start, 'the number is too large')
  if (whole && !Number.isSafeInteger(value)) return BigInt(digits)
  return value === 0 ? 0 : value
}

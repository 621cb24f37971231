// Rules for secret values: `values`, and `generate` with bytes or characters. The rules are the same for a secret entry
// of a deployment, a secret write and a rotation; only the field path differs.

import {
  generateTexts,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonText,
  utf8Length,
} from '@holdfast/contract'
import { isEnvironmentKey } from '../../grammar.ts'
import {
  bitsPerCharacter,
  byteRange,
  isCharset,
  isEncoding,
  shortestLength,
} from '../../secrets/alphabets.ts'
import { choosesBytes, choosesLength } from '../../secrets/generate-plan.ts'
import type { AdmissionContext } from '../context.ts'
import {
  accepted,
  isAbsent,
  onNumber,
  onObject,
  onText,
  type Place,
  type Rule,
  sibling,
} from '../rule-engine/rule.ts'

/** Rules for secret values. `prefix` is the path of their object: `secrets[*].`, or empty in a secret write. */
export function secretMaterialRules(prefix: string): readonly Rule[] {
  return [...valuesRules(`${prefix}values`), ...generateRules(`${prefix}generate`)]
}

function valuesRules(at: string): readonly Rule[] {
  return [
    { code: 'secret_write_empty', at, stage: 'required', refuses: onObject((values) => isEmpty(values)) },
    {
      code: 'secret_value_too_long',
      at,
      stage: 'length',
      refuses: onObject((values, { limits }) => exceeds(documentBytes(values), limits.secretDocumentBytes)),
    },
    { code: 'secret_value_empty', at: `${at}.*`, stage: 'required', refuses: (value) => value === '' },
    {
      code: 'secret_value_too_long',
      at: `${at}.*`,
      stage: 'length',
      refuses: onText((value, { limits }) => exceeds(utf8Length(value), limits.secretValueBytes)),
    },
    {
      code: 'secret_key_invalid',
      at: `${at}.*`,
      stage: 'form',
      refuses: (_value, _context, { key }) => !isEnvironmentKey(key),
    },
    {
      code: 'field_type_invalid',
      at: `${at}.*`,
      stage: 'form',
      refuses: onText((value) => value.includes('\0') && accepted('a string without NUL characters')),
    },
  ]
}

function generateRules(at: string): readonly Rule[] {
  return [
    {
      code: 'secret_generate_axis_conflict',
      at,
      stage: 'form',
      refuses: onObject((block) => choosesBytes(block) && choosesLength(block)),
    },
    {
      code: 'secret_generate_keys_required',
      at: `${at}.keys`,
      stage: 'required',
      refuses: (keys) => isAbsent(keys) || (Array.isArray(keys) && keys.length === 0),
    },
    {
      code: 'secret_key_invalid',
      at: `${at}.keys[*]`,
      stage: 'form',
      refuses: onText((key) => !isEnvironmentKey(key)),
    },
    ...bytesRules(at),
    ...lengthRules(at),
  ]
}

function bytesRules(at: string): readonly Rule[] {
  return [
    {
      code: 'secret_generate_bytes_out_of_range',
      at: `${at}.bytes`,
      stage: 'range',
      refuses: onNumber((bytes, { limits }, place) => {
        const encoding = chosen(place, 'encoding', generateTexts.encoding.default)
        if (!isEncoding(encoding)) return false
        const { min, max } = byteRange(encoding, limits)
        const params = { min, max, ceiling: limits.generateEncodedCharacters }
        return (bytes < min || bytes > max) && { params }
      }),
    },
    {
      code: 'secret_generate_encoding_unknown',
      at: `${at}.encoding`,
      stage: 'form',
      refuses: onText((encoding, _context, place) => !isAxisOpen(place) && !isEncoding(encoding)),
    },
  ]
}

function lengthRules(at: string): readonly Rule[] {
  return [
    {
      code: 'secret_generate_length_out_of_range',
      at: `${at}.length`,
      stage: 'range',
      refuses: onNumber((length, { limits }, place) => {
        if (!isCharset(chosen(place, 'charset', generateTexts.charset.default))) return false
        const max = limits.generateLengthMax
        return (length < 1 || length > max) && { params: { max } }
      }),
    },
    {
      code: 'secret_generate_below_entropy_floor',
      at: `${at}.length`,
      stage: 'range',
      refuses: onNumber((length, context, place) => belowFloor(Number(length), context, place)),
    },
    {
      code: 'secret_generate_charset_unknown',
      at: `${at}.charset`,
      stage: 'form',
      refuses: onText((charset, _context, place) => !isAxisOpen(place) && !isCharset(charset)),
    },
  ]
}

function belowFloor(length: number, { limits }: AdmissionContext, place: Place) {
  const charset = chosen(place, 'charset', generateTexts.charset.default)
  if (!isCharset(charset)) return false
  const floor = limits.generateEntropyBits
  const bits = length * bitsPerCharacter(charset)
  const params = { min: shortestLength(charset, limits), charset, length, bits: Math.floor(bits), floor }
  return length >= 1 && bits < floor && { params }
}

/** Whether a `generate` block asks for both bytes and characters. In that case only its keys are checked further. */
function isAxisOpen({ parent }: Place): boolean {
  return isJsonObject(parent) && choosesBytes(parent) && choosesLength(parent)
}

/** The encoding or charset to check; undefined if a `generate` block asks for both bytes and characters. */
function chosen(place: Place, field: string, usual: string): Json | undefined {
  if (isAxisOpen(place)) return undefined
  const value = sibling(place, field)
  return value === undefined ? usual : value
}

const isEmpty = (values: JsonObject): boolean => Object.keys(values).length === 0

/** Size in bytes of a secret document as the store keeps it, in JSON. */
export function documentBytes(values: JsonObject): number {
  return utf8Length(jsonText(values))
}

export function exceeds(bytes: number, max: number) {
  return bytes > max && { params: { max } }
}

// Generates random secret values. Characters are drawn by rejection sampling, because taking a random number modulo the
// size of the alphabet would make some characters more likely.

import type { SecretEncoding } from '@holdfast/contract'
import { ALPHABETS } from './alphabets.ts'
import type { GeneratePlan } from './material.ts'

/** A source of uniformly random bytes that is safe for cryptography. */
export type RandomBytes = (count: number) => Uint8Array

/** Generates one secret value for each key, in the order of the keys. */
export function generateValues(plan: GeneratePlan, randomBytes: RandomBytes): Map<string, string> {
  const values = new Map<string, string>()
  for (const key of plan.keys) {
    const value =
      'length' in plan
        ? drawText(ALPHABETS[plan.charset], plan.length, randomBytes)
        : encode(randomBytes(plan.bytes), plan.encoding)
    values.set(key, value)
  }
  return values
}

const BYTE_VALUES = 256

function drawText(alphabet: string, length: number, randomBytes: RandomBytes): string {
  const fair = BYTE_VALUES - (BYTE_VALUES % alphabet.length)
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length - text.length)) {
      if (byte < fair) text += alphabet.charAt(byte % alphabet.length)
    }
  }
  return text
}

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const BASE64URL = `${BASE64.slice(0, -2)}-_`

function encode(bytes: Uint8Array, encoding: SecretEncoding): string {
  if (encoding === 'hex') return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  if (encoding === 'base64url') return sextets(bytes, BASE64URL)
  const text = sextets(bytes, BASE64)
  return text.padEnd(Math.ceil(text.length / 4) * 4, '=')
}

/** Encodes each group of three bytes as four characters. An incomplete last group gives fewer characters. */
function sextets(bytes: Uint8Array, alphabet: string): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 3) {
    const [first = 0, second = 0, third = 0] = bytes.subarray(at, at + 3)
    const group = (first << 16) | (second << 8) | third
    const characters = Math.min(bytes.length - at, 3) + 1
    for (let place = 0; place < characters; place++) text += alphabet.charAt((group >> (18 - 6 * place)) & 63)
  }
  return text
}

// Alphabets and encodings of generated secret values, and the entropy that each provides.

import {
  type Json,
  SECRET_CHARSETS,
  SECRET_ENCODINGS,
  type SecretCharset,
  type SecretEncoding,
} from '@holdfast/contract'
import type { Limits } from '../limits.ts'

const LETTERS_AND_DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

export const ALPHABETS: { readonly [charset in SecretCharset]: string } = {
  alphanumeric: LETTERS_AND_DIGITS,
  urlsafe: `${LETTERS_AND_DIGITS}-._~`,
  /** Every printable ASCII character except the space. */
  ascii: `${LETTERS_AND_DIGITS}!"#$%&'()*+,-./:;<=>?@[\\]^_\`{|}~`,
}

export const isCharset = (value: Json | undefined): value is SecretCharset =>
  SECRET_CHARSETS.some((known) => known === value)
export const isEncoding = (value: Json | undefined): value is SecretEncoding =>
  SECRET_ENCODINGS.some((known) => known === value)

export const bitsPerCharacter = (charset: SecretCharset): number => Math.log2(ALPHABETS[charset].length)

/** The minimum number of random characters of an alphabet that gives enough entropy. */
export function shortestLength(charset: SecretCharset, { generateEntropyBits }: Limits): number {
  return Math.ceil(generateEntropyBits / bitsPerCharacter(charset))
}

const BITS_PER_BYTE = 8

/** The allowed number of random bytes: enough for the entropy, and within the limits on bytes and encoded text. */
export function byteRange(
  encoding: SecretEncoding,
  limits: Limits,
): { readonly min: number; readonly max: number } {
  const min = Math.max(limits.generateBytesMin, Math.ceil(limits.generateEntropyBits / BITS_PER_BYTE))
  return {
    min,
    max: Math.min(limits.generateBytesMax, bytesWithin(encoding, limits.generateEncodedCharacters)),
  }
}

function bytesWithin(encoding: SecretEncoding, characters: number): number {
  if (encoding === 'hex') return Math.floor(characters / 2)
  return encoding === 'base64' ? Math.floor(characters / 4) * 3 : Math.floor((characters * 3) / 4)
}

/** Length of the text that encodes the given number of bytes. */
export function encodedLength(encoding: SecretEncoding, bytes: number): number {
  if (encoding === 'hex') return bytes * 2
  return encoding === 'base64' ? Math.ceil(bytes / 3) * 4 : Math.ceil((bytes * 4) / 3)
}

// Fills in the defaults of a `generate` block: 32 bytes as base64url if the block specifies nothing.

import { generateTexts, type Json, type JsonObject } from '@holdfast/contract'
import type { Limits } from '../limits.ts'
import { byteRange, encodedLength, isCharset, isEncoding, shortestLength } from './alphabets.ts'
import type { GeneratePlan } from './material.ts'

const USUAL_BYTES = generateTexts.bytes.default
const USUAL_LENGTH = generateTexts.length.default

/** Whether a `generate` block asks for random bytes. */
export const choosesBytes = ({ bytes, encoding }: JsonObject): boolean =>
  bytes !== undefined || encoding !== undefined
export const choosesLength = ({ length, charset }: JsonObject): boolean =>
  length !== undefined || charset !== undefined

/** Fills in the defaults of a valid `generate` block. A default is raised to the configured minimum. */
export function planOf(block: JsonObject, limits: Limits): GeneratePlan {
  const keys = keysOf(block)
  if (choosesLength(block)) {
    const charset = isCharset(block.charset) ? block.charset : generateTexts.charset.default
    const usual = Math.max(USUAL_LENGTH, shortestLength(charset, limits))
    return { keys, length: numberOr(block.length, usual), charset }
  }
  const encoding = isEncoding(block.encoding) ? block.encoding : generateTexts.encoding.default
  const usual = Math.max(USUAL_BYTES, byteRange(encoding, limits).min)
  return { keys, bytes: numberOr(block.bytes, usual), encoding }
}

export function keysOf({ keys }: JsonObject): string[] {
  return Array.isArray(keys) ? keys.filter((key) => typeof key === 'string') : []
}

/** Length of one generated value in characters, all of them ASCII. */
export function generatedLength(plan: GeneratePlan): number {
  return 'length' in plan ? plan.length : encodedLength(plan.encoding, plan.bytes)
}

function numberOr(value: Json | undefined, usual: number): number {
  return typeof value === 'number' ? value : usual
}

// Reads the secret values of a valid secret entry or write, from `values` and `generate`.

import { isJsonObject, type JsonObject } from '@holdfast/contract'
import type { Limits } from '../limits.ts'
import { planOf } from './generate-plan.ts'
import type { SentMaterial } from './material.ts'

/** Secret values without their credential, which the request path names. */
export type WrittenMaterial = Pick<SentMaterial, 'values' | 'generate'>

export function materialIn({ values, generate }: JsonObject, limits: Limits): WrittenMaterial {
  const provided = isJsonObject(values) ? Object.entries(values) : []
  return {
    values: new Map(provided.map(([key, value]) => [key, String(value)])),
    ...(isJsonObject(generate) ? { generate: planOf(generate, limits) } : {}),
  }
}

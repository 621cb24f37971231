// What the `values` and `generate` of an entry or a write bring, once the rules have found them sound. SPEC 2.4, 2.5.

import { isJsonObject, type JsonObject } from '@holdfast/contract'
import type { Limits } from '../limits.ts'
import { planOf } from './generate-plan.ts'
import type { SentMaterial } from './material.ts'

/** Whose it is, the path says. */
export type WrittenMaterial = Pick<SentMaterial, 'values' | 'generate'>

export function materialIn({ values, generate }: JsonObject, limits: Limits): WrittenMaterial {
  const provided = isJsonObject(values) ? Object.entries(values) : []
  return {
    values: new Map(provided.map(([key, value]) => [key, String(value)])),
    ...(isJsonObject(generate) ? { generate: planOf(generate, limits) } : {}),
  }
}

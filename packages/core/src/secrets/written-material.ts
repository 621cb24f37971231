// The material in `values` and `generate` of an entry or a write without faults.

import { isJsonObject, type JsonObject } from '@holdfast/contract'
import type { Limits } from '../limits.ts'
import { planOf } from './generate-plan.ts'
import type { SentMaterial } from './material.ts'

/** Which credential it belongs to is known from the path. */
export type WrittenMaterial = Pick<SentMaterial, 'values' | 'generate'>

export function materialIn({ values, generate }: JsonObject, limits: Limits): WrittenMaterial {
  const provided = isJsonObject(values) ? Object.entries(values) : []
  return {
    values: new Map(provided.map(([key, value]) => [key, String(value)])),
    ...(isJsonObject(generate) ? { generate: planOf(generate, limits) } : {}),
  }
}

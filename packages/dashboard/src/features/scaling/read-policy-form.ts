// The typed fields of a scaling policy as a request body. A field that is no number is sent as it was typed, so that the
// server rejects it with its reason.

import type { JsonObject } from '@holdfast/contract'

const NUMBERS = ['min', 'max', 'targetPercent'] as const
const WORDS = ['metric', 'scaleDownDelay'] as const

export function readPolicyForm(typed: (field: string) => string): JsonObject {
  const body: JsonObject = {}
  for (const field of NUMBERS) {
    const text = typed(field).trim()
    if (text !== '') body[field] = /^\d{1,9}$/.test(text) ? Number(text) : text
  }
  for (const field of WORDS) {
    const text = typed(field).trim()
    if (text !== '') body[field] = text
  }
  return body
}

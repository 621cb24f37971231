// Sorts documents by need, as the platform does: each after those that it needs; other documents keep their order.

import type { Json } from '@holdfast/contract'
import { orderByNeed } from '@holdfast/core/admission'

export function orderDocuments<T extends { readonly value: Json }>(documents: readonly T[]): T[] {
  const order = orderByNeed(documents.map(({ value }) => value))
  return order.flatMap((at) => documents[at] ?? [])
}

// Sorts documents by need, as the platform does: each after those that it needs; other documents keep their order.
// Volumes and networks need nothing, so they come before all deployments.

import type { Json } from '@holdfast/contract'
import { orderByNeed } from '@holdfast/core/admission'
import { kindOf } from '@holdfast/manifest'

export function orderDocuments<T extends { readonly value: Json }>(documents: readonly T[]): T[] {
  const isFirst = ({ value }: T): boolean => kindOf(value) !== 'Deployment'
  const others = documents.filter((document) => !isFirst(document))
  const order = orderByNeed(others.map(({ value }) => value))
  return [...documents.filter(isFirst), ...order.flatMap((at) => others[at] ?? [])]
}

// Sorts documents by need, as the platform does: each after those that it needs; other documents keep their order.
// Volumes and networks need nothing, so they come before all deployments. Jobs come last, because they may need a
// deployment and no document needs a job.

import type { Json } from '@holdfast/contract'
import { orderByNeed } from '@holdfast/core/admission'
import { kindOf } from '@holdfast/manifest'

export function orderDocuments<T extends { readonly value: Json }>(documents: readonly T[]): T[] {
  const { Deployment: deployments = [], Job: jobs = [] } = Object.groupBy(documents, ({ value }) =>
    kindOf(value),
  )
  const first = documents.filter((document) => !deployments.includes(document) && !jobs.includes(document))
  const order = orderByNeed(deployments.map(({ value }) => value))
  return [...first, ...order.flatMap((at) => deployments[at] ?? []), ...jobs]
}

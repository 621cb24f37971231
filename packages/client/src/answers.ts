// Answers that are made of several records, as this client reads them. DECISIONS 2.

import {
  alterationShape,
  candidateShape,
  deploymentRecordShape,
  deploymentStatusShape,
  type Infer,
  integer,
  type Json,
  json,
  list,
  listedEventShape,
  nullable,
  object,
  oneOf,
  optional,
  placementEntryShape,
  type Shape,
  string,
  warningShape,
} from '@holdfast/contract'

export const pageShape = <T>(item: Shape<T>) => object({ items: list(item), nextCursor: nullable(string()) })
export const itemsShape = <T>(item: Shape<T>) => object({ items: list(item) })

export const writtenShape = object({
  deployment: deploymentRecordShape,
  alterations: list(alterationShape),
  warnings: list(warningShape),
})
export type Written = Infer<typeof writtenShape>

const rolloutPlanShape = object({
  order: string(),
  parallelism: integer(),
  lowestReady: integer(),
  steps: list(object({ lowestReady: integer(), text: string() })),
  summary: string(),
})

export const dryRunShape = object({
  alterations: list(alterationShape),
  warnings: list(warningShape),
  plan: object({
    action: oneOf(['create', 'update', 'none']),
    revision: integer(),
    changes: list(object({ field: string(), from: json<Json>(), to: json<Json>() })),
    placement: object({
      placed: list(string()),
      unplaced: integer(),
      summary: string(),
      candidates: list(candidateShape),
      cure: list(string()),
    }),
    rollout: optional(rolloutPlanShape),
  }),
})
export type DryRun = Infer<typeof dryRunShape>

export const statusShape = object({ ...deploymentStatusShape.fields, timeline: list(listedEventShape) })
export type StatusWithTimeline = Infer<typeof statusShape>

export const placementsShape = itemsShape(placementEntryShape)

export const explainedCodeShape = object({
  code: string(),
  status: integer(),
  alternativeStatus: optional(object({ status: integer(), when: string() })),
  field: string(),
  expected: string(),
  why: string(),
  doc: string(),
  capability: string(),
})

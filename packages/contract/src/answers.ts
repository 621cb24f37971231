// Answers that are made of several records: what a write answers, what a dry run would do, a page of a list. DECISIONS 1, 2.

import { deploymentRecordShape, deploymentStatusShape, UPDATE_ORDERS } from './deployment.ts'
import { listedEventShape } from './event.ts'
import type { NodeId } from './ids.ts'
import type { Json } from './json.ts'
import { candidateShape } from './placement.ts'
import { alterationShape, warningShape } from './rejection.ts'
import {
  branded,
  type Infer,
  integer,
  json,
  list,
  nullable,
  object,
  oneOf,
  optional,
  type Shape,
  string,
} from './shape.ts'

export const pageShape = <T>(item: Shape<T>) => object({ items: list(item), nextCursor: nullable(string()) })

export const writtenShape = object({
  deployment: deploymentRecordShape,
  alterations: list(alterationShape),
  warnings: list(warningShape),
})

export const placementPlanShape = object({
  /** Names of nodes, one for each replica that fits. */
  placed: list(string()),
  unplaced: integer(),
  summary: string(),
  candidates: list(candidateShape),
  cure: list(string()),
})

export const RECREATE_REASONS = ['template_changed', 'restart'] as const

export const rolloutPlanShape = object({
  order: oneOf(UPDATE_ORDERS),
  parallelism: integer(),
  lowestReady: integer(),
  steps: list(
    object({
      replicas: list(
        object({
          replica: integer(),
          nodeId: branded<NodeId>(),
          nodeName: string(),
          reason: oneOf(RECREATE_REASONS),
        }),
      ),
      lowestReady: integer(),
      text: string(),
    }),
  ),
  summary: string(),
})

/** Nothing was stored. */
export const dryRunShape = object({
  alterations: list(alterationShape),
  warnings: list(warningShape),
  plan: object({
    action: oneOf(['create', 'update', 'none']),
    revision: integer(),
    changes: list(object({ field: string(), from: json<Json>(), to: json<Json>() })),
    placement: placementPlanShape,
    rollout: optional(rolloutPlanShape),
  }),
})
export type DryRun = Infer<typeof dryRunShape>

export const statusWithTimelineShape = object({
  ...deploymentStatusShape.fields,
  timeline: list(listedEventShape),
})
export type StatusWithTimeline = Infer<typeof statusWithTimelineShape>

/** One code of the catalogue, as it is listed. */
export const listedCodeShape = object({
  code: string(),
  status: integer(),
  alternativeStatus: optional(object({ status: integer(), when: string() })),
  field: string(),
  expected: string(),
  why: string(),
  doc: string(),
  capability: string(),
})

// Answers that are made of several records: what a write answers, what a dry run would do, a page of a list. DECISIONS 1, 2.

import type { NodeId } from '../ids.ts'
import type { Json } from '../json/json.ts'
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
} from '../shapes/shape.ts'
import { deploymentRecordShape, deploymentStatusShape, UPDATE_ORDERS } from './deployment.ts'
import { listedEventShape } from './event.ts'
import { candidateShape } from './placement.ts'
import { alterationShape, triedShape, warningShape } from './rejection.ts'

export const pageShape = <T>(item: Shape<T>) => object({ items: list(item), nextCursor: nullable(string()) })

export const eventPageShape = object({
  ...pageShape(listedEventShape).fields,
  /** There are older ones that were not looked at: `before` it goes on with them. */
  earlierCursor: optional(string()),
  /** Events behind the cursor that was sent are kept no more. */
  truncated: optional(object({ after: string(), oldest: nullable(string()) })),
})
export type EventPage = Infer<typeof eventPageShape>

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

export const STEP_KINDS = ['start', 'replace', 'move', 'stop', 'wait'] as const
/** Why a replica is made, made anew, or taken away. */
export const STEP_REASONS = [
  'new_replica',
  'template_changed',
  'restart',
  /** Its node does not answer what the deployment asks of nodes any more. */
  'no_longer_qualifies',
  'node_leaving',
  'node_lost',
  'not_wished',
] as const

export const plannedReplicaShape = object({
  replica: integer(),
  /** Where it goes; absent where it only stops. */
  nodeId: optional(branded<NodeId>()),
  nodeName: optional(string()),
  /** What spoke for that node. */
  why: optional(string()),
  /** The name of the node that its predecessor is on. */
  from: optional(string()),
  reason: oneOf(STEP_REASONS),
})
export type PlannedReplica = Infer<typeof plannedReplicaShape>

export const planStepShape = object({
  kind: oneOf(STEP_KINDS),
  /** Side by side; none in a step that waits. */
  replicas: list(plannedReplicaShape),
  /** The fewest that are ready while the step goes on, if every successor becomes ready. */
  lowestReady: integer(),
  text: string(),
})
export type PlanStep = Infer<typeof planStepShape>

export const rolloutPlanShape = object({
  order: oneOf(UPDATE_ORDERS),
  parallelism: integer(),
  lowestReady: integer(),
  summary: string(),
})
export type RolloutPlanned = Infer<typeof rolloutPlanShape>

export const dryRunShape = triedShape(
  object({
    action: oneOf(['create', 'update', 'none']),
    revision: integer(),
    changes: list(object({ field: string(), from: json<Json>(), to: json<Json>() })),
    placement: placementPlanShape,
    /** What the controllers would do one after another, if every container becomes ready and nothing else changes. */
    steps: list(planStepShape),
    rollout: optional(rolloutPlanShape),
  }),
)
export type DryRun = Infer<typeof dryRunShape>

export const statusWithTimelineShape = object({
  ...deploymentStatusShape.fields,
  timeline: list(listedEventShape),
  /** The story is longer, or older events were not looked at: /events goes on `before` it. */
  earlierCursor: optional(string()),
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

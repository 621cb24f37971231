// Responses that combine several records: the result of a write, the plan of a dry run, a page of a list.

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
import { alterationShape, dryRunResultShape, warningShape } from './rejection.ts'

export const pageShape = <T>(item: Shape<T>) => object({ items: list(item), nextCursor: nullable(string()) })

export const eventPageShape = object({
  ...pageShape(listedEventShape).fields,
  /** Cursor for requesting older events with `before`. Absent if all older events were already examined. */
  earlierCursor: optional(string()),
  /** Set if the server has already deleted events that follow the requested cursor. */
  truncated: optional(object({ after: string(), oldest: nullable(string()) })),
})
export type EventPage = Infer<typeof eventPageShape>

export const writtenShape = object({
  deployment: deploymentRecordShape,
  alterations: list(alterationShape),
  warnings: list(warningShape),
})

export const placementPlanShape = object({
  /** Names of the chosen nodes, one for each replica that can be placed. */
  placed: list(string()),
  unplaced: integer(),
  summary: string(),
  candidates: list(candidateShape),
  cure: list(string()),
})

export const STEP_KINDS = ['start', 'replace', 'move', 'stop', 'wait'] as const
/** Why a replica is created, recreated or removed. */
export const STEP_REASONS = [
  'new_replica',
  'template_changed',
  'restart',
  /** The node of the replica no longer meets the requirements of the deployment. */
  'no_longer_qualifies',
  'node_leaving',
  'node_lost',
  'not_desired',
] as const

export const plannedReplicaShape = object({
  replica: integer(),
  /** The node on which the planned replica will run; absent if the replica is only stopped. */
  nodeId: optional(branded<NodeId>()),
  nodeName: optional(string()),
  /** Why the scheduler picked the node of the planned replica. */
  why: optional(string()),
  /** Name of the node from which a replaced replica is removed. */
  from: optional(string()),
  reason: oneOf(STEP_REASONS),
})
export type PlannedReplica = Infer<typeof plannedReplicaShape>

export const planStepShape = object({
  kind: oneOf(STEP_KINDS),
  /** The replicas that the step changes at the same time; empty for a step that only waits. */
  replicas: list(plannedReplicaShape),
  /** The lowest number of ready replicas during the step, if every new replica becomes ready. */
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

export const dryRunShape = dryRunResultShape(
  object({
    action: oneOf(['create', 'update', 'none']),
    revision: integer(),
    changes: list(object({ field: string(), from: json<Json>(), to: json<Json>() })),
    placement: placementPlanShape,
    /** The planned steps in order, assuming that every container becomes ready and nothing else changes. */
    steps: list(planStepShape),
    rollout: optional(rolloutPlanShape),
  }),
)
export type DryRun = Infer<typeof dryRunShape>

export const statusWithTimelineShape = object({
  ...deploymentStatusShape.fields,
  timeline: list(listedEventShape),
  /** Value for the parameter `before` of GET /events, to request the events that are older than this timeline. */
  earlierCursor: optional(string()),
})
export type StatusWithTimeline = Infer<typeof statusWithTimelineShape>

/** An item of GET /errors: one code of the catalogue. */
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

// The plan of a dry run: the steps that the controllers would take, and their effects on what runs and what is routed.

import type { NodeId } from '../ids.ts'
import type { Json } from '../json/json.ts'
import {
  boolean,
  branded,
  described,
  field,
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
import { dryRunTexts } from '../texts/request-texts.ts'
import { candidateShape } from '../views/why.ts'
import { UPDATE_ORDERS } from './deployment.ts'
import { alterationShape, rejectionShape, warningShape } from './rejection.ts'

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

/** A canary numbers its replicas beside those of the deployment. */
const OF_CANARY = optional(described('True for a replica of a canary; absent for the others', boolean()))

export const plannedReplicaShape = object({
  replica: integer(),
  canary: OF_CANARY,
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

const DEPLOYMENT = string({ description: 'Name of the deployment' })

export const planStepShape = object({
  deployment: DEPLOYMENT,
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

const replacedReplicaShape = object({
  deployment: DEPLOYMENT,
  replica: integer({ description: 'Number of the replica' }),
  canary: OF_CANARY,
  from: string({ description: 'Name of the node that the replica leaves' }),
  to: string({ description: 'Name of the node on which its successor runs' }),
  reason: oneOf(STEP_REASONS),
})
export type ReplacedReplica = Infer<typeof replacedReplicaShape>

const stoppedReplicaShape = object({
  deployment: DEPLOYMENT,
  replica: integer({ description: 'Number of the replica' }),
  canary: OF_CANARY,
  node: string({ description: 'Name of the node on which the replica runs' }),
  reason: oneOf(STEP_REASONS),
})

const unplacedShape = object({
  deployment: DEPLOYMENT,
  canary: OF_CANARY,
  replicas: integer({
    description: 'How many replicas have no node, or cannot leave the node that they should leave',
  }),
  reason: string(),
})

export const UNROUTED_REASONS = ['route_removed', 'deployment_deleted', 'no_ready_replica'] as const

const unroutedShape = object({
  deployment: DEPLOYMENT,
  host: string(),
  path: string(),
  reason: oneOf(UNROUTED_REASONS),
})

const lostDataShape = object({
  volume: string({ description: 'Name of the volume whose data would be lost' }),
  reason: string(),
  /** For a promotion, which loses the last writes only: the upper bound of their time; null if it is unknown. */
  seconds: optional(nullable(integer())),
})

const lowestReadyShape = object({
  deployment: DEPLOYMENT,
  ready: integer({ description: 'The lowest number of ready replicas while the change is carried out' }),
  desired: integer({ description: 'How many replicas the deployment desires after the change' }),
  reason: string(),
})

const omittedShape = object({ deployment: DEPLOYMENT, reason: string() })

/**
 * The effects of a change on what runs, if every new container becomes ready and nothing else changes. A list without
 * entries is empty, never absent.
 */
export const effectsShape = object({
  moves: described(
    'Replicas whose successor runs on another node, with an unchanged container',
    list(replacedReplicaShape),
  ),
  restarts: described(
    'Replicas that are recreated with another container, on the same node or another one',
    list(replacedReplicaShape),
  ),
  stops: described('Replicas that stop and get no successor', list(stoppedReplicaShape)),
  unplaced: described('Deployments with replicas that no node accepts', list(unplacedShape)),
  unrouted: described('Routes that reach no replica, for a while or from then on', list(unroutedShape)),
  lostData: described('Volumes whose data would be lost', list(lostDataShape)),
  lowestReady: described(
    'Deployments whose replicas move, restart or stop, each with its lowest number of ready replicas',
    list(lowestReadyShape),
  ),
  omitted: described(
    'Deployments whose effects are not complete, because the plan ended at its limit',
    list(omittedShape),
  ),
})
export type Effects = Infer<typeof effectsShape>

const plannedFields = {
  /** The planned steps in order, assuming that every container becomes ready and nothing else changes. */
  steps: list(planStepShape),
  effects: effectsShape,
}

/** The plan of a deployment write, or of a new job among several documents. */
export const deploymentPlanShape = object({
  action: oneOf(['create', 'update', 'none']),
  revision: integer(),
  changes: list(object({ field: string(), from: json<Json>(), to: json<Json>() })),
  placement: placementPlanShape,
  ...plannedFields,
  rollout: optional(rolloutPlanShape),
})
export type DeploymentPlan = Infer<typeof deploymentPlanShape>

/** The response of a dry run, which stores nothing. */
const dryRunOf = <T>(plan: Shape<T>) =>
  object({ alterations: list(alterationShape), warnings: list(warningShape), plan })

/** The dry run of a deployment write. */
export const dryRunShape = dryRunOf(deploymentPlanShape)
export type DryRun = Infer<typeof dryRunShape>

/** The dry run of any other write; `result` is the response that the real write would have returned. */
export const dryRunResultShape = <T>(result: Shape<T>) => dryRunOf(object({ result, ...plannedFields }))

/** The most documents of one dry run; each is planned after those that it needs. */
export const MOST_DOCUMENTS = 100

export const dryRunDocumentsShape = object({
  documents: field(dryRunTexts.documents, list(json<Json>())),
})

/** The entry of one document: its plan, or its rejections. */
export const dryRunDocumentShape = object({
  kind: string(),
  name: string(),
  action: optional(oneOf(['create', 'update', 'none'])),
  alterations: optional(list(alterationShape)),
  warnings: optional(list(warningShape)),
  plan: optional(deploymentPlanShape),
  /** Present instead of the other members if the document is rejected. */
  rejections: optional(list(rejectionShape)),
})
export type DryRunDocument = Infer<typeof dryRunDocumentShape>

/** The entries of a dry run of several documents, in the order sent. */
export const dryRunDocumentsResultShape = object({ items: list(dryRunDocumentShape) })

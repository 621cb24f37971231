// Records about running replicas: placements, recorded placement decisions, and the agents' observations.

import {
  assignmentShape,
  boolean,
  branded,
  candidateShape,
  containerTemplateShape,
  type DeploymentUid,
  type Infer,
  integer,
  list,
  map,
  type NodeId,
  object,
  observationShape,
  optional,
  revisionTargetShape,
  rolloutShape,
  string,
} from '@holdfast/contract'
import { tenantCollection, v } from './collection.ts'

/** All replicas of one deployment with their container templates: everything that agents need. */
export const storedPlacementShape = object({
  v,
  uid: branded<DeploymentUid>(),
  name: string(),
  /** The deployment revision that this placement implements. */
  revision: integer(),
  /** Whether a replica was ever assigned. Before that a shortfall is `unschedulable`, later it is `stalled`. */
  everAssigned: boolean(),
  assignments: list(assignmentShape),
  /** By templateHash: the templates that an assignment or `lastGood` names. */
  templates: map(containerTemplateShape),
  /** A hash of the refusals in the last event about them; empty when there was none. */
  reportedRefusals: string(),
  /** The phase in the last event about it. */
  reportedPhase: string(),
  /** Secrets of this revision that were reported as unavailable, each with its cause; absent where none was. */
  reportedSecrets: optional(list(string())),
  /** A hash of the residency labels under which all replicas last met their demands; absent without demands. */
  metDemands: optional(string()),
  /** Why a replica has no node, for the status; absent while all are placed. */
  shortfall: optional(object({ reason: string(), summary: string() })),
  /** The newest deployment revision whose replicas were all ready at once. */
  ranRevision: optional(integer()),
  /** Present while a rollout is under way, watched, paused or rolling back. */
  rollout: optional(rolloutShape),
  /** The last revision that passed its watch window; a failed update rolls back to it. */
  lastGood: optional(revisionTargetShape),
  /** The last recorded decision: its number, starting at 1, its time, and the reason in its status. */
  decided: optional(object({ number: integer(), at: string(), reason: string() })),
})
export type StoredPlacement = Infer<typeof storedPlacementShape>

/** A placement decision. It is in force from `decidedAt` until the next one. */
export const storedDecisionShape = object({
  v,
  uid: branded<DeploymentUid>(),
  name: string(),
  number: integer(),
  decidedAt: string(),
  /** The deployment revision of the decision. */
  revision: integer(),
  phase: string(),
  reason: string(),
  summary: string(),
  replicas: object({ desired: integer(), placed: integer(), ready: integer() }),
  /** The end of the candidate list; earlier candidates that do not fit into one record are in `parts`, in order. */
  candidates: list(candidateShape),
  parts: optional(list(string())),
  cure: list(string()),
})
export type StoredDecision = Infer<typeof storedDecisionShape>

/** A part of a long candidate list; it is used once a decision names it. */
export const decisionPartShape = object({ v, candidates: list(candidateShape) })

export const storedObservationShape = object({
  v,
  ...observationShape.fields,
  deployment: branded<DeploymentUid>(),
  nodeId: branded<NodeId>(),
  at: string(),
})
export type StoredObservation = Infer<typeof storedObservationShape>

export const placements = tenantCollection('place', storedPlacementShape, true)
export const decisions = tenantCollection('why', storedDecisionShape, false)
export const decisionParts = tenantCollection('whypart', decisionPartShape, false)
export const observations = tenantCollection('obs', storedObservationShape, true)

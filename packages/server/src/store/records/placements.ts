// Records about running replicas: placements, recorded placement decisions, and the agents' observations.

import {
  assignmentShape,
  avoidedNodeShape,
  boolean,
  branded,
  candidateShape,
  capacityShape,
  containerTemplateShape,
  failingContainerShape,
  formerAssignmentShape,
  type Infer,
  integer,
  list,
  map,
  type NodeId,
  nodeGroupShape,
  type Owner,
  object,
  observationShape,
  optional,
  revisionTargetShape,
  rolloutShape,
  string,
} from '@holdfast/contract'
import { historyCollection, v } from './collection.ts'

/** The placement of an owner: its assignments to nodes and the container templates, as agents need them. */
export const storedPlacementShape = object({
  v,
  owner: branded<Owner>(),
  /** The name of the owner, such as the name of the deployment. */
  name: string(),
  /** The revision of the owner that this placement implements. */
  revision: integer(),
  /**
   * Whether a replica of the deployment was ever assigned to a node. Before the first assignment, a deployment without a
   * fitting node is `unschedulable`, later `stalled`.
   */
  everAssigned: boolean(),
  assignments: list(assignmentShape),
  /** Assignments that left the record, newest last, at most 16; absent if none did within the last hour. */
  formerly: optional(list(formerAssignmentShape)),
  /** Nodes that could not create a container, newest last, at most 64; absent if there was none. */
  avoided: optional(list(avoidedNodeShape)),
  /** Container templates by templateHash; only templates that an assignment or `lastGood` names. */
  templates: map(containerTemplateShape),
  /**
   * The resources that each assignment requests. Absent for a deployment, whose record has them. A server that does not
   * know the kind of the owner counts these.
   */
  resources: optional(capacityShape),
  /** A hash of the placement refusals in the last event about refusals; empty if there was none. */
  reportedRefusals: string(),
  /** The phase of the deployment that the last event about a phase reported. */
  reportedPhase: string(),
  /** Secrets of this revision that an event reported as unavailable, each with its cause; absent if there are none. */
  reportedSecrets: optional(list(string())),
  /** A hash of the deployment's demands on nodes that the nodes of all replicas last met; absent without demands. */
  metDemands: optional(string()),
  /** Why a replica has no node, for the deployment's status; absent while all replicas are placed. */
  shortfall: optional(object({ reason: string(), summary: string() })),
  /** The newest deployment revision whose replicas were all ready at the same time. */
  ranRevision: optional(integer()),
  /** The number of replicas that a scaling policy desired when all were last ready; absent without a policy. */
  ranReplicas: optional(integer()),
  /** The rollout; present while the rollout is in progress, in its watch window, paused or rolling back. */
  rollout: optional(rolloutShape),
  /** The last revision that passed the watch window of its rollout; a failed update rolls back to this revision. */
  lastGood: optional(revisionTargetShape),
  /** The last recorded placement decision: its number, starting at 1, its time, and the reason shown in the status. */
  decided: optional(object({ number: integer(), at: string(), reason: string() })),
})
export type StoredPlacement = Infer<typeof storedPlacementShape>

/** A placement decision, in force from `decidedAt` until the next decision. */
export const storedDecisionShape = object({
  v,
  owner: branded<Owner>(),
  name: string(),
  number: integer(),
  decidedAt: string(),
  /** The deployment revision for which the decision was made. */
  revision: integer(),
  phase: string(),
  reason: string(),
  summary: string(),
  replicas: object({ desired: integer(), placed: integer(), ready: integer() }),
  /** The containers that failed when the decision was made, at most ten; absent if none did. */
  containers: optional(list(failingContainerShape)),
  /**
   * The end of the list of candidate nodes; earlier candidates that do not fit into one record are in `parts`, in order.
   */
  candidates: list(candidateShape),
  /** Parts that decisions of earlier versions have; a decision is now one record. */
  parts: optional(list(string())),
  /** The candidate nodes in groups of equal reasons, if they are too many for `candidates`, which is then empty. */
  groups: optional(list(nodeGroupShape)),
  cure: list(string()),
})
export type StoredDecision = Infer<typeof storedDecisionShape>

/** A part of a long list of candidate nodes; the part is unused until a decision names it. */
export const decisionPartShape = object({ v, candidates: list(candidateShape) })

export const storedObservationShape = object({
  v,
  ...observationShape.fields,
  owner: branded<Owner>(),
  nodeId: branded<NodeId>(),
  at: string(),
})
export type StoredObservation = Infer<typeof storedObservationShape>

export const placements = historyCollection('place', storedPlacementShape, true)
export const decisions = historyCollection('why', storedDecisionShape, false)
export const decisionParts = historyCollection('whypart', decisionPartShape, false)
export const observations = historyCollection('obs', storedObservationShape, true)

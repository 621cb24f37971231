// The output of a placement plan: the next placement record, what it was decided on, and everything that the controller
// needs to reserve, compare, write and report.

import type {
  Assignment,
  AssignmentId,
  Candidate,
  DeploymentStatus,
  Event,
  EventType,
  Json,
  NodeId,
} from '@holdfast/contract'
import type { UnmetDependency } from '../rollout/dependency-gate.ts'
import type { RolloutPlan } from '../rollout/plan-rollout.ts'
import type { SecretTrouble } from '../rollout/secret-trouble.ts'
import type { Explanation, RetryTrigger } from '../scheduling/index.ts'
import type { Displacement } from './find-displaced.ts'
import type { DeploymentRecord, PlacementRecord } from './snapshot.ts'

/** The state that a plan was decided on. */
export interface PlanBasis {
  readonly deployment: DeploymentRecord
  readonly before: PlacementRecord | undefined
  /** The modification revision of `before`, 0 where there is none. */
  readonly placementRevision: number
  /** The time of the decision, as records write it. */
  readonly now: string
}

/** Which replicas stay, go and come, and why others have no node. */
export interface PlannedReplicas {
  readonly rollout: RolloutPlan
  /** The assignments that remain in the record, each with its new `desired`. */
  readonly kept: readonly Assignment[]
  readonly added: readonly Assignment[]
  readonly displacement: Displacement
  /** The explanation, where a replica fits on no node. */
  readonly refused: Explanation | undefined
  /** The kinds of change after which the deployment is worth planning again; empty where nothing is refused. */
  readonly cures: readonly RetryTrigger[]
  /** The dependencies that hold back replicas; empty where none is to be created. */
  readonly unmet: readonly UnmetDependency[]
}

/** The record that follows, with what is derived from it. */
export interface NextPlacement {
  /** Undefined: the deployment is being deleted and no assignment is left, so the record goes. */
  readonly next: PlacementRecord | undefined
  readonly status: DeploymentStatus
  /** The unresolved secrets that no event has reported for this revision. */
  readonly unreportedSecrets: readonly SecretTrouble[]
}

export interface PlacementPlan extends PlanBasis, PlannedReplicas, NextPlacement {
  /** The stored record is as it should be: there is nothing to write. */
  readonly isSettled: boolean
  /** The assignments of `before` that serve. */
  readonly ready: ReadonlySet<AssignmentId>
  /** The failed nodes that have an assignment of `before`. */
  readonly lostNodes: ReadonlySet<NodeId>
  /** Nodes whose record the plan relies on: the commit compares them. */
  readonly nodesToCompare: ReadonlySet<NodeId>
  /** Assignments whose observation the plan relies on: the commit compares them. */
  readonly observationsToCompare: readonly AssignmentId[]
  /** The assignments whose capacity is to be reserved until the store has the plan; those that leave the record included. */
  readonly reserved: readonly Assignment[]
  /** The events of the plan. They are worded at the first call, since most plans are settled and a dry run reads none. */
  events(): PlacementEvents
  /**
   * The matrix of candidates that the decision record holds, divided as its events are. Empty where the decision equals the
   * recorded one and is not recorded again.
   */
  recordedParts(): readonly (readonly Candidate[])[]
}

export interface PlacementEvent {
  readonly type: EventType
  readonly severity: Event['severity']
  readonly subject: Event['subject']
  /** With type and subject, the identity of the event: a decision that is written twice is reported once. */
  readonly cause: string
  readonly reason: string
  readonly message: string
  readonly data: Json
  /** The place among the events of one transaction, where the order of the list does not give it. */
  readonly place?: number
}

/** In the order in which they are to be written. */
export interface PlacementEvents {
  /** Parts of a matrix that is too large for the transaction of the placement record. */
  readonly before: readonly PlacementEvent[]
  /** Written in the transaction of the placement record. */
  readonly within: readonly PlacementEvent[]
}

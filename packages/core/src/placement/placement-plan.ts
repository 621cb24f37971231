// The output of a placement plan: the next placement record, the state that the decision is based on, and everything that
// the controller needs to reserve, compare, write and report.

import type {
  Assignment,
  AssignmentId,
  CanaryProgress,
  Candidate,
  DeploymentStatus,
  Event,
  EventType,
  FailingContainer,
  Json,
  NodeGroup,
  NodeId,
} from '@holdfast/contract'
import type { UnmetDependency } from '../rollout/dependency-gate.ts'
import type { RolloutPlan } from '../rollout/plan-rollout.ts'
import type { SecretTrouble } from '../rollout/secret-trouble.ts'
import type { Explanation, RetryTrigger } from '../scheduling/index.ts'
import type { Displacement } from './find-displaced.ts'
import type { Uncreated } from './leave-uncreated.ts'
import type { DeploymentRecord, PlacementRecord } from './snapshot.ts'
import type { ClaimChanges } from './writer-claims.ts'

/** The state that a placement plan is based on. */
export interface PlanBasis {
  readonly deployment: DeploymentRecord
  readonly before: PlacementRecord | undefined
  /** The modification revision of the placement record `before`; 0 if there is no record. */
  readonly placementRevision: number
  /** The time of the decision, in the format of stored records. */
  readonly now: string
  /** The nodes that could not create a container, after this decision. */
  readonly avoided: PlacementRecord['avoided']
}

/** The replicas that stay, leave and are added, and why other replicas have no node. */
export interface PlannedReplicas {
  readonly rollout: RolloutPlan
  /** The assignments that remain in the placement record, each with its new value of `desired`. */
  readonly kept: readonly Assignment[]
  readonly added: readonly Assignment[]
  readonly displacement: Displacement
  readonly uncreated: Uncreated
  /** Why a replica fits on no node; undefined if every replica has a node. */
  readonly refused: Explanation | undefined
  /** Why a replica of the canary fits on no node; undefined if every one has a node. */
  readonly canaryRefused: Explanation | undefined
  /**
   * The kinds of change after which the deployment should be planned again; empty if no replica is refused, those of the
   * canary included.
   */
  readonly cures: readonly RetryTrigger[]
  /** The dependencies that are not ready and so prevent new replicas; empty if no replica has to be created. */
  readonly unmet: readonly UnmetDependency[]
  /** The same for the replicas of the deployment and of its canary. */
  readonly awaited: readonly UnmetDependency[]
  /** The state of the canary after the plan; undefined if the deployment has none. */
  readonly canary: CanaryProgress | undefined
}

/** The placement record that follows a decision, and facts derived from it. */
export interface NextPlacement {
  /**
   * The next placement record. Undefined if there is no record to store: the deployment is being deleted and has no
   * assignments left, or it never had a record and still needs none.
   */
  readonly next: PlacementRecord | undefined
  readonly status: DeploymentStatus
  /** The containers that fail, with the cause that their agents report. */
  readonly failing: readonly FailingContainer[]
  /** The unresolved secrets that no event has reported yet for the current revision. */
  readonly unreportedSecrets: readonly SecretTrouble[]
}

/** The nodes of an explanation as records and events store them. */
export interface StoredMatrix {
  readonly candidates: readonly Candidate[]
  /** The nodes in groups, if they are too many to store each with its own texts. */
  readonly groups?: readonly NodeGroup[]
}

export interface PlacementPlan extends PlanBasis, PlannedReplicas, NextPlacement {
  /** True if the stored placement record is up to date, so that nothing has to be written. */
  readonly isSettled: boolean
  /** The assignments in the record `before` whose replica serves. */
  readonly ready: ReadonlySet<AssignmentId>
  /** The failed nodes that have an assignment in the record `before`. */
  readonly lostNodes: ReadonlySet<NodeId>
  /** Nodes whose record the plan relies on. The commit fails if one of these records has changed. */
  readonly nodesToCompare: ReadonlySet<NodeId>
  /** Assignments whose observation the plan relies on. The commit fails if one of these observations has changed. */
  readonly observationsToCompare: readonly AssignmentId[]
  /** The volumes and claims that the commit compares and changes. */
  readonly claims: ClaimChanges
  /**
   * The assignments whose capacity stays reserved until the plan is stored, including those that the plan removes from
   * the record.
   */
  readonly reserved: readonly Assignment[]
  /**
   * The events of the plan. Their texts are built at the first call, because most plans change nothing and a dry run
   * reads no events.
   */
  events(): readonly PlacementEvent[]
  /** The matrix for the decision record; undefined if the decision equals the recorded one and is not recorded again. */
  recordedMatrix(): StoredMatrix | undefined
}

export interface PlacementEvent {
  readonly type: EventType
  readonly severity: Event['severity']
  readonly subject: Event['subject']
  /**
   * Identifies the event together with its type and subject, so that a decision that is written twice is reported once.
   */
  readonly cause: string
  readonly reason: string
  readonly message: string
  readonly data: Json
  /** The position of the event among the events of one transaction, if it differs from the position in the list. */
  readonly place?: number
}

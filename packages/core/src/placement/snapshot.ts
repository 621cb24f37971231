// The input of a placement plan: the deployment, its placement record, and read-only views of what the controller knows
// about the tenant. The controller maps stored records to these types without a copy for each decision.

import type {
  Assignment,
  AssignmentId,
  AvoidedNode,
  CanaryProgress,
  ContainerTemplate,
  DeploymentSpec,
  DeploymentUid,
  FormerAssignment,
  NodeId,
  Observation,
  Owner,
  RevisionTarget,
  Rollout,
} from '@holdfast/contract'
import type { ReplicaRequests } from '../canary/replica-requests.ts'
import type { FailureFacts } from '../node/container-cause.ts'
import type { Dependency } from '../rollout/dependency-gate.ts'
import type { NodeDisposition } from '../rollout/desired-replicas.ts'
import type { ScaledReplicas } from '../scaling/desired-replicas.ts'
import type { NodeFacts, SchedulingView, Workload } from '../scheduling/index.ts'

export interface DeploymentRecord {
  readonly uid: DeploymentUid
  readonly spec: DeploymentSpec
  readonly revision: number
  /** The digest of the image; null until a registry has resolved the image reference. */
  readonly digest: string | null
  readonly deleting: boolean
  /** The scaling policy's number of replicas, which replaces that of the spec; absent without a policy. */
  readonly scaling?: ScaledReplicas | undefined
  /** Maps the label of each credential to the version that containers are created with. */
  readonly pins?: { readonly [label: string]: number }
  /** The canary; absent if the deployment has none. */
  readonly canary?: CanaryProgress
}

/** The source of a canary's replicas, and their demands on nodes. */
export interface CanarySnapshot extends Pick<DeploymentRecord, 'spec' | 'digest' | 'pins'> {
  readonly workload: Workload
  readonly target: RevisionTarget | undefined
}

/** All assignments of one deployment, as the placement record stores them. */
export interface PlacementRecord {
  readonly owner: Owner
  readonly name: string
  /** The deployment revision that the placement record was planned for. */
  readonly revision: number
  /**
   * Whether the deployment ever had an assignment. A replica without a node is reported as `unschedulable` before the
   * first assignment and as `stalled` later.
   */
  readonly everAssigned: boolean
  readonly assignments: Assignment[]
  /** The newest assignments that left the record within the last hour before another one left. */
  readonly formerly?: FormerAssignment[]
  /** The nodes that could not create a container, newest last. */
  readonly avoided?: AvoidedNode[]
  /** Maps template hashes to container templates, for each hash that an assignment or `lastGood` refers to. */
  readonly templates: { [templateHash: string]: ContainerTemplate }
  /** The hash of the refusals that were last reported in an event; empty if there are none. */
  readonly reportedRefusals: string
  readonly reportedPhase: string
  /** The unresolved secrets that were reported for the current revision, each with its cause. */
  readonly reportedSecrets?: string[]
  /** The hash of the demands that the nodes of all replicas last met; absent if the deployment has no demands. */
  readonly metDemands?: string
  /** Why a replica has no node, for the status; absent while all replicas are placed. */
  readonly shortfall?: { reason: string; summary: string }
  /** The newest deployment revision of which every replica was once ready. */
  readonly ranRevision?: number
  /** The number of replicas that a scaling policy desired when all were last ready; absent without a policy. */
  readonly ranReplicas?: number
  readonly rollout?: Rollout
  /** The revision that a failed update is rolled back to. */
  readonly lastGood?: RevisionTarget
  /** The placement decision that was last recorded. */
  readonly decided?: { number: number; at: string; reason: string }
}

/** The resources that the replicas of one owner request. */
export interface CountedRequests extends ReplicaRequests {
  /** The name of a deployment, or the text of another owner, which no affinity rule can name. */
  readonly name: string
}

/** The replicas of one owner in a scheduling view, with the resources that they request. */
export interface CountedReplicas extends CountedRequests {
  readonly assignments: readonly Pick<Assignment, 'id' | 'nodeId' | 'canary'>[]
}

export type SeenReplica = FailureFacts &
  Pick<Observation, 'about' | 'restarts' | 'gone' | 'nodeFailures'> &
  Partial<Pick<Observation, 'startedAt'>>

/** A claim of the planned deployment. */
export interface OwnClaim {
  readonly volume: string
  readonly state: 'bound' | 'releasing'
}

/** A volume, as far as the placement of its consumers depends on it. */
export interface VolumeAt {
  readonly class: string
  readonly phase: string
  readonly sizeBytes: number
  readonly primary: { readonly nodeId: NodeId; readonly epoch: number } | null
  /** The nodes that hold another copy, with the state of the copy. */
  readonly replicas: readonly { readonly nodeId: NodeId; readonly state: string }[]
  /** Whether a credential of a deployment depends on the data of the volume. */
  isAnchored(): boolean
}

export interface PlacementSnapshot {
  readonly workload: Workload
  /** The revision and template hash of the stored spec; undefined until the image is resolved. */
  readonly target: RevisionTarget | undefined
  /** Present if the deployment has a canary that is not over. */
  readonly canary?: CanarySnapshot
  readonly placement: PlacementRecord | undefined
  /** The modification revision of the placement record; 0 if there is no record. */
  readonly placementRevision: number
  /** The tenant's nodes and the replicas assigned to them. A plan leaves this view exactly as it was. */
  readonly scheduling: Pick<SchedulingView, 'place' | 'hypothetically'>
  /** The resources that the replicas of this deployment and of its canary request by the stored spec. */
  readonly requests: CountedRequests
  /** The replicas of this deployment that the scheduling view includes. */
  readonly counted: CountedReplicas
  /**
   * The number of containers that the tenant's quota allows for this deployment: the quota less the containers of other
   * deployments.
   */
  readonly room: number
  /**
   * Time in milliseconds since 1970 before which no replica is overdue, because a controller that has just taken over may
   * lack reports.
   */
  readonly graceUntil: number
  /** The facts about a node; undefined if the node is not enrolled or its record is unreadable. */
  nodeOf(id: NodeId): NodeFacts | undefined
  /** Decides from a node's record and claim what happens to replicas on the node, whatever the deployment demands. */
  dispositionOf(id: NodeId): NodeDisposition
  seen(id: AssignmentId): SeenReplica | undefined
  /** The state of the deployment with the given name; undefined if no such deployment exists. */
  dependency(name: string): Dependency | undefined
  /** The claims of the deployment on volumes that it writes to. */
  readonly claims: readonly OwnClaim[]
  /** The volume with the given id; undefined if no such volume exists. */
  volumeOf(id: string): VolumeAt | undefined
  /** Returns the SHA-256 hash of a text in hexadecimal. */
  sha256(text: string): string
}

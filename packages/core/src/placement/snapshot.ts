// The input of a placement plan: the deployment, its placement record, and read-only views of what the controller knows of
// the tenant. The controller maps stored records to these types; nothing is copied per decision.

import type {
  Assignment,
  AssignmentId,
  Capacity,
  ContainerTemplate,
  DeploymentSpec,
  DeploymentUid,
  NodeId,
  Observation,
  RevisionTarget,
  Rollout,
} from '@holdfast/contract'
import type { Dependency } from '../rollout/dependency-gate.ts'
import type { NodeDisposition } from '../rollout/desired-replicas.ts'
import type { NodeFacts, SchedulingView, Workload } from '../scheduling/index.ts'

export interface DeploymentRecord {
  readonly uid: DeploymentUid
  readonly spec: DeploymentSpec
  readonly revision: number
  /** The digest of the image; null until a registry has resolved the reference. */
  readonly digest: string | null
  readonly deleting: boolean
  /** By label, the version of each credential that containers are created with. */
  readonly pins?: { readonly [label: string]: number }
}

/** All replicas of one deployment, as the placement record stores them. */
export interface PlacementRecord {
  readonly uid: DeploymentUid
  readonly name: string
  /** The deployment revision that the record was planned for. */
  readonly revision: number
  /** Whether a replica was ever assigned: a shortfall is reported as `unschedulable` before that and as `stalled` later. */
  readonly everAssigned: boolean
  readonly assignments: Assignment[]
  /** By template hash; those that an assignment or `lastGood` names. */
  readonly templates: { [templateHash: string]: ContainerTemplate }
  /** The hash of the refusals that were last reported in an event; empty where there are none. */
  readonly reportedRefusals: string
  readonly reportedPhase: string
  /** The unresolved secrets that were reported for this revision, each with its cause. */
  readonly reportedSecrets?: string[]
  /** The hash of the demands that every replica's node last met; absent where the deployment has no demands. */
  readonly metDemands?: string
  /** Why a replica has no node, for the status; absent while all are placed. */
  readonly shortfall?: { reason: string; summary: string }
  /** The newest deployment revision of which every replica was once ready. */
  readonly ranRevision?: number
  readonly rollout?: Rollout
  /** The revision that a failed update is rolled back to. */
  readonly lastGood?: RevisionTarget
  /** The decision that was last recorded. */
  readonly decided?: { number: number; at: string; reason: string }
}

/** The replicas of one deployment that a scheduling view holds, with what each of them requests. */
export interface CountedReplicas {
  readonly name: string
  readonly resources: Capacity
  readonly assignments: readonly Pick<Assignment, 'id' | 'nodeId'>[]
}

export type SeenReplica = Pick<Observation, 'state' | 'reason' | 'about' | 'restarts' | 'gone'>

export interface PlacementSnapshot {
  readonly workload: Workload
  /** The revision and template hash of the stored spec; undefined until the image is resolved. */
  readonly target: RevisionTarget | undefined
  readonly placement: PlacementRecord | undefined
  /** The modification revision of `placement`, 0 where there is none. */
  readonly placementRevision: number
  /** The tenant's nodes and everything that is assigned to them. A plan leaves the view exactly as it was. */
  readonly scheduling: Pick<SchedulingView, 'place' | 'hypothetically'>
  /** The replicas of this deployment that `scheduling` holds. */
  readonly counted: CountedReplicas
  /** The quota of containers, less the containers of other deployments. */
  readonly room: number
  /** In milliseconds since 1970. A controller that has just taken over may lack reports: no replica is overdue before. */
  readonly graceUntil: number
  /** Undefined where the node is not enrolled, or its record is unreadable. */
  nodeOf(id: NodeId): NodeFacts | undefined
  /** The disposition that follows from the node's own record and claim, whatever the deployment demands. */
  dispositionOf(id: NodeId): NodeDisposition
  seen(id: AssignmentId): SeenReplica | undefined
  /** Undefined where no deployment of that name exists. */
  dependency(name: string): Dependency | undefined
  /** SHA-256 in hexadecimal. */
  sha256(text: string): string
}

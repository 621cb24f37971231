// The state of the simulated world at one moment, as the invariants see it: the records of the key-value store itself, not
// of a replica's cache, and the machines with the containers that really run on them.

import type { AssignmentId, DeploymentUid, Event, Infer, NodeId, TenantId } from '@holdfast/contract'
import type {
  nodeNameShape,
  StoredDeployment,
  StoredNode,
  StoredObservation,
  StoredPlacement,
  StoredTenant,
  shardShape,
  slotShape,
} from '@holdfast/server/store/records'

/** A record with its key. An unchanged collection is the same array as in the previous snapshot. */
export interface Kept<T> {
  /** Undefined for global records. */
  readonly tenant: TenantId | undefined
  readonly id: string
  readonly modRevision: number
  readonly record: T
}

/** `exited` is a container that exists and does not run. A removed container is not listed. */
export type ContainerState = 'starting' | 'running' | 'ready' | 'unhealthy' | 'stopping' | 'exited'

export interface SimulatedContainer {
  readonly assignmentId: AssignmentId
  readonly deployment: DeploymentUid
  readonly templateHash: string
  readonly state: ContainerState
  /** Virtual milliseconds since 1970; undefined if it has never run. */
  readonly startedAt: number | undefined
}

export interface SimulatedMachine {
  /** Generation of its newest enrollment. */
  readonly nodeId: NodeId
  /** As stored on its own disk: an enrollment whose answer was lost is not there. */
  readonly generation: number
  readonly tenant: TenantId
  readonly name: string
  /** Without power nothing runs on it; with power and without a network its containers keep running. */
  readonly powered: boolean
  readonly connected: boolean
  /** Labels of its own configuration: the ones it advertises, accepted or not. */
  readonly labels: { readonly [key: string]: string }
  readonly containers: readonly SimulatedContainer[]
}

export interface SimulatedServer {
  /** Changes with each start: `srv_` and a ULID. */
  readonly replica: string
  /** Its name in the script. */
  readonly name: string
  readonly alive: boolean
  /** The tenants of the script whose shards it believes to own. */
  readonly holds: readonly TenantId[]
}

/** A write that a caller saw acknowledged. */
export interface Acknowledged {
  readonly at: number
  readonly tenant: TenantId
  readonly action:
    | 'apply'
    | 'delete'
    | 'cordon'
    | 'uncordon'
    | 'drain'
    | 'quota'
    | 'role'
    | 'enroll'
    | 'remove'
  /** Name of the deployment, the node or the quota. */
  readonly name: string
  /** Revision of the deployment that was applied. */
  readonly revision: number | undefined
}

export interface Snapshot {
  /** Virtual milliseconds since 1970. */
  readonly now: number
  /** Revision of the key-value store. */
  readonly revision: number
  readonly tenants: readonly Kept<StoredTenant>[]
  readonly deployments: readonly Kept<StoredDeployment>[]
  readonly placements: readonly Kept<StoredPlacement>[]
  readonly observations: readonly Kept<StoredObservation>[]
  readonly nodes: readonly Kept<StoredNode>[]
  readonly nodeNames: readonly Kept<Infer<typeof nodeNameShape>>[]
  readonly slots: readonly Kept<Infer<typeof slotShape>>[]
  readonly shards: readonly Kept<Infer<typeof shardShape>>[]
  /** In storage order. */
  readonly events: readonly Kept<Event>[]
  readonly machines: readonly SimulatedMachine[]
  readonly servers: readonly SimulatedServer[]
  readonly acknowledged: readonly Acknowledged[]
}

export interface Violation {
  /** The name of the invariant. */
  readonly invariant: string
  /** The deployment, node or tenant that breaks it. */
  readonly subject: string
  readonly message: string
}

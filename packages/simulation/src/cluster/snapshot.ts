// What is true of the simulated world at one moment, for whoever checks it: the records as the key-value store itself holds
// them, not as a replica believes them to be, and the machines with what really runs on them.

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

/** A record with its key. An unchanged collection is the same array as in the snapshot before. */
export interface Kept<T> {
  /** Undefined for what is global. */
  readonly tenant: TenantId | undefined
  readonly id: string
  readonly modRevision: number
  readonly record: T
}

/** `exited` is a container that is there and does not run. One that was removed is not in the list. */
export type ContainerState = 'starting' | 'running' | 'ready' | 'unhealthy' | 'stopping' | 'exited'

export interface SimulatedContainer {
  readonly assignmentId: AssignmentId
  readonly deployment: DeploymentUid
  readonly templateHash: string
  readonly state: ContainerState
  /** Virtual milliseconds since 1970; undefined while it has never run. */
  readonly startedAt: number | undefined
}

export interface SimulatedMachine {
  /** Of its newest enrollment. */
  readonly nodeId: NodeId
  /** As its own disk has it: an answer that was lost is not known to it. */
  readonly generation: number
  readonly tenant: TenantId
  readonly name: string
  /** Without power nothing runs on it; with power and without a network its containers run on. */
  readonly powered: boolean
  readonly connected: boolean
  /** As its own configuration has them, which is what it advertises and not what is believed. */
  readonly labels: { readonly [key: string]: string }
  readonly containers: readonly SimulatedContainer[]
}

export interface SimulatedServer {
  /** Another one after each start: `srv_` and a ULID. */
  readonly replica: string
  /** As the script calls it. */
  readonly name: string
  readonly alive: boolean
  /** The tenants of the script whose shards it believes to own. */
  readonly holds: readonly TenantId[]
}

/** A write that a caller was told to be done. */
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
  /** Of the deployment, the node or the quota. */
  readonly name: string
  /** Of the deployment that was applied. */
  readonly revision: number | undefined
}

export interface Snapshot {
  /** Virtual milliseconds since 1970. */
  readonly now: number
  /** Of the key-value store. */
  readonly revision: number
  readonly tenants: readonly Kept<StoredTenant>[]
  readonly deployments: readonly Kept<StoredDeployment>[]
  readonly placements: readonly Kept<StoredPlacement>[]
  readonly observations: readonly Kept<StoredObservation>[]
  readonly nodes: readonly Kept<StoredNode>[]
  readonly nodeNames: readonly Kept<Infer<typeof nodeNameShape>>[]
  readonly slots: readonly Kept<Infer<typeof slotShape>>[]
  readonly shards: readonly Kept<Infer<typeof shardShape>>[]
  /** In the order in which they were stored. */
  readonly events: readonly Kept<Event>[]
  readonly machines: readonly SimulatedMachine[]
  readonly servers: readonly SimulatedServer[]
  readonly acknowledged: readonly Acknowledged[]
}

export interface Violation {
  /** The name of the invariant. */
  readonly invariant: string
  /** Who breaks it: a deployment, a node, a tenant. */
  readonly subject: string
  readonly message: string
}

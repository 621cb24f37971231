// The state of the simulation at one moment, as the invariants see it: the records of the key-value store itself, not of
// a server's cache, and the machines with the containers that really run on them.

import type {
  AssignmentId,
  Event,
  Infer,
  NodeId,
  Owner,
  TenantId,
  VolumeCheckpoint,
  VolumeId,
} from '@holdfast/contract'
import type { Stamp } from '@holdfast/core/promotion/messages'
import type { SavedRole } from '@holdfast/core/promotion/node/follow-volume'
import type {
  nodeNameShape,
  StoredDeployment,
  StoredJob,
  StoredNetwork,
  StoredNode,
  StoredObservation,
  StoredPlacement,
  StoredTenant,
  StoredVolume,
  StoredVolumeWriter,
  shardShape,
  slotShape,
} from '@holdfast/server/store/records'
import type { WriteLog, Written } from '../volumes/written.ts'

/** A stored record with its key. If no record of a kind changed, the next snapshot has the same array object. */
export interface Kept<T> {
  /** Tenant of the record; undefined for a global record. */
  readonly tenant: TenantId | undefined
  readonly id: string
  readonly modRevision: number
  readonly record: T
}

/** `exited` is a container that exists and does not run. A removed container is not listed. */
export type ContainerState = 'starting' | 'running' | 'ready' | 'unhealthy' | 'stopping' | 'exited'

export interface SimulatedContainer {
  /** The id of the container in its engine; a container that is created again has another one. */
  readonly id: string
  readonly assignmentId: AssignmentId
  readonly owner: Owner
  readonly templateHash: string
  readonly state: ContainerState
  /** Start time of the container in virtual milliseconds since 1970; undefined if the container has never run. */
  readonly startedAt: number | undefined
  /** The volumes that the container has mounted from the pool and writes. */
  readonly writes: readonly VolumeId[]
  /** Present if the container joins networks. */
  readonly networks?: {
    /** Their names in the template. */
    readonly joined: readonly string[]
    /** The names on the engine of the networks that it is attached to. */
    readonly attached: readonly string[]
  }
}

/** A network of the engine of a machine. */
export interface SimulatedNetwork {
  readonly engineId: string
  readonly name: string
  readonly internal: boolean
  /** The tenant and the id in its labels. */
  readonly tenant: string
  readonly id: string
}

/** The data of one volume in the pool of a machine. */
export interface SimulatedCopy {
  readonly volume: VolumeId
  /** The content of the live data, the epoch to which it belongs, and its limit; undefined without live data. */
  readonly live: { readonly content: Written; readonly epoch: number; readonly isMade: boolean } | undefined
  readonly checkpoints: readonly (VolumeCheckpoint & { readonly content: Written; readonly takenAt: Stamp })[]
  /** The role of the node in the promises of the volume, as it is on disk; undefined without one. */
  readonly promise: SavedRole | undefined
  /** Data of earlier epochs that was set aside. */
  readonly quarantined: readonly { readonly epoch: number; readonly content: Written }[]
}

export interface SimulatedMachine {
  /** The node id from the machine's newest enrollment. */
  readonly nodeId: NodeId
  /** Enrollment generation on the machine's disk. An enrollment whose answer was lost is not on the disk. */
  readonly generation: number
  readonly tenant: TenantId
  readonly name: string
  /** False if the machine has no power, so that no container runs. Containers keep running without a network. */
  readonly powered: boolean
  readonly connected: boolean
  /** True if every process of the machine, its fencer included, is frozen. */
  readonly frozen: boolean
  /** Time at which the machine last continued after it was frozen, in virtual milliseconds since 1970. */
  readonly thawedAt: number
  /** True if the machine reaches no server, or not every other machine. */
  readonly isCut: boolean
  /** False if its agent is dead or frozen or reaches no server, so that it sends no heartbeats. */
  readonly isHeard: boolean
  /** The address under which its writes are logged; empty without a pool. */
  readonly address: string
  /** Labels in the machine's own configuration, whether the control plane accepts them or not. */
  readonly labels: { readonly [key: string]: string }
  readonly containers: readonly SimulatedContainer[]
  /** The assignments whose container the machine could not create, for a cause of its own that has not ended. */
  readonly notCreated: ReadonlySet<AssignmentId>
  /** The attempts of jobs whose logs are kept on the machine's disk. */
  readonly jobLogs: ReadonlySet<AssignmentId>
  readonly copies: readonly SimulatedCopy[]
  readonly networks: readonly SimulatedNetwork[]
  /** The engine ids of the networks of others that the script has created and not removed, and of those that it removed. */
  readonly foreignNetworks: ReadonlySet<string>
  readonly lostNetworks: ReadonlySet<string>
  /** Size of the storage pool; undefined for a machine without one. */
  readonly poolBytes: number | undefined
}

export interface SimulatedServer {
  /** Id of the server process, `srv_` and a ULID. Each start of a server has a new id. */
  readonly replica: string
  /** Name of the server in the script. */
  readonly name: string
  readonly alive: boolean
  /** Tenants whose shards this server believes to own. */
  readonly holds: readonly TenantId[]
}

/** A write that a server acknowledged to an API caller. */
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
    | 'volume'
    | 'volume-changed'
    | 'volume-deleted'
    | 'job'
    | 'job-cancelled'
    | 'scaling'
    | 'network'
    | 'network-delete'
  /** Name of the deployment, node, volume, job, network or quota that the acknowledged write changed. */
  readonly name: string
  /** Deployment revision in the acknowledgement; undefined for other writes. */
  readonly revision: number | undefined
}

export interface Snapshot {
  /** Time of the snapshot in virtual milliseconds since 1970. */
  readonly now: number
  /** Revision of the key-value store at the time of the snapshot. */
  readonly revision: number
  readonly tenants: readonly Kept<StoredTenant>[]
  readonly deployments: readonly Kept<StoredDeployment>[]
  readonly placements: readonly Kept<StoredPlacement>[]
  readonly observations: readonly Kept<StoredObservation>[]
  readonly nodes: readonly Kept<StoredNode>[]
  readonly nodeNames: readonly Kept<Infer<typeof nodeNameShape>>[]
  readonly slots: readonly Kept<Infer<typeof slotShape>>[]
  readonly shards: readonly Kept<Infer<typeof shardShape>>[]
  readonly volumes: readonly Kept<StoredVolume>[]
  readonly volumeWriters: readonly Kept<StoredVolumeWriter>[]
  readonly jobs: readonly Kept<StoredJob>[]
  readonly networks: readonly Kept<StoredNetwork>[]
  /** Stored events in the order of their storage. */
  readonly events: readonly Kept<Event>[]
  readonly machines: readonly SimulatedMachine[]
  readonly servers: readonly SimulatedServer[]
  readonly acknowledged: readonly Acknowledged[]
  /** The CPU millis that the containers of a deployment use together, by `tenant/name`. */
  readonly loads: ReadonlyMap<string, number>
  /** When a load last changed, in virtual milliseconds since 1970. */
  readonly loadsChangedAt: ReadonlyMap<string, number>
  /** The writes of containers into volumes. */
  readonly writes: Pick<WriteLog, 'newest' | 'forks' | 'acknowledged'>
}

export interface Violation {
  /** Name of the invariant that does not hold. */
  readonly invariant: string
  /** The deployment, node or tenant that violates the invariant. */
  readonly subject: string
  readonly message: string
}

// The facts that a scheduling decision is based on. They cover one tenant and its own nodes. See
// docs/design/placement.md#candidates

import type {
  AvoidedNode,
  Capacity,
  DeploymentSpec,
  NodeId,
  NodeStatus,
  ResidencyDemand,
  StatedAgent,
} from '@holdfast/contract'

export interface NodeFacts {
  readonly id: NodeId
  readonly name: string
  readonly status: NodeStatus
  readonly schedulable: boolean
  readonly controlPlane: boolean
  readonly labels: { readonly [key: string]: string }
  /** The location that the node's join token attests. The node may report this location and no other. */
  readonly attested: { readonly country?: string; readonly region?: string }
  /**
   * The attested country of a node that reports another country. Blocked countries are still checked against it, so a
   * false report gains nothing.
   */
  readonly hiddenCountry?: string | undefined
  /** `sole`: only this tenant claims the machine, and the claim is active. Otherwise the node accepts no new replicas. */
  readonly claim: 'sole' | 'releasing' | 'shared'
  /** The version and capabilities that the node's agent stated in its last session; absent before the first one. */
  readonly agent?: StatedAgent | undefined
  readonly capacity: Capacity
  /** The sum of the resource requests of all replicas assigned to the node. */
  readonly requested: Capacity
  /** Maps a deployment name to the number of its replicas that are assigned to the node. */
  readonly replicas: ReadonlyMap<string, number>
  /** Why the node is degraded, as words of NODE_FAULTS; absent if it is not. */
  readonly faults?: readonly string[] | undefined
  /** The node's storage pool; absent if it has none, and in the facts for workloads that store nothing. */
  readonly pool?: PoolFacts | undefined
}

export interface PoolFacts {
  readonly poolBytes: number
  /** The bytes that the copies of volumes on the node may fill. */
  readonly claimedBytes: number
  /** Why the pool cannot be used, as one word; absent if it can. */
  readonly fault?: string | undefined
}

/** The demands of `placement.residency`, together with the configuration of residency. */
export interface DesiredResidency extends ResidencyDemand {
  readonly enforced: boolean
  /** The countries that `region` covers. Empty if no region is demanded, or if the region is no longer declared. */
  readonly regionCountries: readonly string[]
}

export interface Workload {
  readonly name: string
  readonly resources: Capacity
  readonly placement: DeploymentSpec['placement']
  readonly nodeId: NodeId | undefined
  /** The residency demands; undefined if the deployment has none. */
  readonly residency: DesiredResidency | undefined
  /** Whether the workload belongs to the platform itself, whose replicas may run on control-plane nodes. */
  readonly ofPlatform: boolean
  /** Control-plane nodes that already have the replica, which may be recreated there; absent if there are none. */
  readonly returnsTo?: readonly NodeId[] | undefined
  /** The capabilities that an agent needs to create a container of the workload. */
  readonly needs: readonly string[]
  /** The bytes of a storage pool that the workload claims; absent if it stores nothing. */
  readonly storageBytes?: number | undefined
  /** The volumes that the workload mounts from a storage pool; absent if it mounts none. */
  readonly volumes?: readonly MountedVolume[] | undefined
  /** The networks that the workload names; absent if it names none. */
  readonly networks?: readonly NamedNetwork[] | undefined
  /** The nodes that could not create a container of the workload lately; absent if there are none. */
  readonly avoids?: readonly Pick<AvoidedNode, 'nodeId' | 'cause'>[] | undefined
}

/** A network that a workload names. */
export interface NamedNetwork {
  readonly name: string
  /** The node of the network; null if the network does not exist. */
  readonly nodeId: NodeId | null
}

/** A mounted volume, as far as it decides where its consumers run. */
export interface MountedVolume {
  readonly id: string
  /** The node whose copy is live; null if there is none. */
  readonly primary: NodeId | null
  /** Maps each other node that holds a copy to the state of the copy. */
  readonly copies: { readonly [nodeId: string]: string }
  /** Whether the primary is being handed over to another node, so that no container may start. */
  readonly isMoving: boolean
}

export interface TenantFacts {
  readonly nodes: readonly NodeFacts[]
  /** The quota of containers and the number in use. The scheduler enforces this quota, not admission. */
  readonly containers: { readonly used: number; readonly limit: number }
  /** Whether any node runs a replica of the named deployment. Without this optional function all nodes are searched. */
  readonly runs?: (name: string) => boolean
}

// The facts for a scheduling decision. They cover one tenant and its own nodes.
// See docs/design/placement.md#candidates

import type { Capacity, DeploymentSpec, NodeId, NodeStatus, ResidencyDemand } from '@holdfast/contract'

export interface NodeFacts {
  readonly id: NodeId
  readonly name: string
  readonly status: NodeStatus
  readonly schedulable: boolean
  readonly controlPlane: boolean
  readonly labels: { readonly [key: string]: string }
  /** The location that its join token attests. The node may report this location and no other. */
  readonly attested: { readonly country?: string; readonly region?: string }
  /** The attested country of a node that reports another one. It is still used for blocked countries, so a false report gains nothing. */
  readonly hiddenCountry?: string | undefined
  /** `sole`: only this tenant claims the machine, and the claim is active. Otherwise the node accepts no new replicas. */
  readonly claim: 'sole' | 'releasing' | 'shared'
  readonly capacity: Capacity
  /** The sum of the requests of all replicas assigned to the node. */
  readonly requested: Capacity
  /** By deployment name, the number of its replicas assigned to the node. */
  readonly replicas: ReadonlyMap<string, number>
}

/** The demands of `placement.residency`, with what the configuration says about them. */
export interface DesiredResidency extends ResidencyDemand {
  readonly enforced: boolean
  /** The countries that `region` covers. Empty where no region is demanded, or where the region is no longer declared. */
  readonly regionCountries: readonly string[]
}

export interface Workload {
  readonly name: string
  readonly resources: Capacity
  readonly placement: DeploymentSpec['placement']
  readonly nodeId: NodeId | undefined
  /** Undefined where the deployment has no residency demands. */
  readonly residency: DesiredResidency | undefined
  /** Whether it belongs to the platform itself, whose replicas may run on control-plane nodes. */
  readonly ofPlatform: boolean
}

export interface TenantFacts {
  readonly nodes: readonly NodeFacts[]
  /** The containers quota. It is enforced by the scheduler and not at admission. */
  readonly containers: { readonly used: number; readonly limit: number }
  /** Whether any node runs a replica of the deployment. Optional: without it all nodes are searched. */
  readonly runs?: (name: string) => boolean
}

// What the scheduler knows when it decides: one tenant's nodes, and nobody else's. SPEC 3, DECISIONS 4 and 5.

import type { Capacity, DeploymentSpec, NodeId, NodeStatus, ResidencyDemand } from '@holdfast/contract'

export interface NodeFacts {
  readonly id: NodeId
  readonly name: string
  readonly status: NodeStatus
  readonly schedulable: boolean
  readonly controlPlane: boolean
  readonly labels: { readonly [key: string]: string }
  /** What its join token says of where it stands: the node may advertise this and nothing else. */
  readonly attested: { readonly country?: string; readonly region?: string }
  /** Attested, and hidden behind another that was refused: nothing is gained by a lie. SAFETY 2 row 14. */
  readonly hiddenCountry?: string | undefined
  /** `sole`: only this tenant claims the machine, and the claim is active. Otherwise it takes no new work. */
  readonly claim: 'sole' | 'releasing' | 'shared'
  readonly capacity: Capacity
  /** Sum of the requests of the replicas that are assigned to the node. */
  readonly requested: Capacity
  /** By deployment name: how many replicas of it are assigned to the node. */
  readonly replicas: ReadonlyMap<string, number>
}

/** What `placement.residency` demands, with what the region covers by now and whether demands are enforced at all. */
export interface DesiredResidency extends ResidencyDemand {
  readonly enforced: boolean
  /** Of `region`; empty where none is demanded, or none of that name is declared any more. */
  readonly regionCountries: readonly string[]
}

export interface Workload {
  readonly name: string
  readonly resources: Capacity
  readonly placement: DeploymentSpec['placement']
  readonly nodeId: NodeId | undefined
  /** Undefined where the deployment demands nothing. */
  readonly residency: DesiredResidency | undefined
  /** Only the platform's own work goes to control-plane nodes. */
  readonly ofPlatform: boolean
}

export interface TenantFacts {
  readonly nodes: readonly NodeFacts[]
  /** The quota `containers` acts here, not at admission (SPEC 3, rule 4). */
  readonly containers: { readonly used: number; readonly limit: number }
  /** Whether any node runs a replica of the deployment, where that is known without looking at all of them. */
  readonly runs?: (name: string) => boolean
}

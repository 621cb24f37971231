// Facts from the store and the registry that admission needs, read at one store revision. A fact that was not read is
// absent, and its check is skipped.

import type { DeploymentRecord, ResidencyRules, VolumeClass } from '@holdfast/contract'
import type { Stand } from '../../scheduling/residency.ts'
import type { CredentialFact } from '../../secrets/plan-pins.ts'

export interface ExistingFact {
  readonly record: DeploymentRecord
  readonly deleting: boolean
}

/** A deployment that other deployments may depend on, with the names of its own dependencies. */
export interface DependencyFact {
  readonly hasHealthCheck: boolean
  readonly dependsOn: readonly string[]
}

/** The registry's response for the exact image reference. The server writes the text `cause`, never the registry. */
export type ImageFact =
  | { readonly answer: 'exists'; readonly digest: string }
  | { readonly answer: 'absent' }
  | { readonly answer: 'unreachable'; readonly cause: string }
  | { readonly answer: 'credentials_unavailable' }

/** Facts about the node that `nodeId` names. */
export type NodeFact =
  | { readonly answer: 'candidate' }
  /** The control plane runs on the named node, which only the platform tenant may use. */
  | { readonly answer: 'control_plane' }
  /** The tenant has nodes, but none with the requested node id. */
  | { readonly answer: 'unknown' }
  | { readonly answer: 'none_enrolled' }
  | { readonly answer: 'unreadable' }
  /** Of a job, with or without `nodeId`: the tenant has no node with a connected agent. */
  | { readonly answer: 'none_connected' }
  /** Of a job: the tenant has no such node. */
  | { readonly answer: 'unknown_to_job' }

/** The residency configuration and the nodes that may satisfy a residency rule. */
export interface ResidencyFact {
  readonly rules: ResidencyRules
  /** Each node of the tenant whose agent is connected. */
  readonly reachable: readonly Stand[]
}

/** The nodes on which the deployment and its dependencies may run. */
export interface DistanceFact {
  /** Number of the tenant's nodes that accept new work. */
  readonly schedulableNodes: number
  /** The node that a dependency names by `nodeId`, by the dependency's name. */
  readonly nodeIds: ReadonlyMap<string, string>
}

/** A volume of the tenant, as far as mounts depend on it. */
export interface VolumeFact {
  readonly name: string
  readonly class: VolumeClass
  readonly phase: string
  /** The node of the primary; null until a node fits. */
  readonly primary: string | null
  /** The nodes that hold a copy, apart from the primary. */
  readonly copies: readonly string[]
  /** Another workload that writes to the volume, or whose last container is not confirmed gone. */
  readonly writer?: { readonly name: string; readonly state: 'bound' | 'releasing' } | undefined
}

export interface VolumesFact {
  /** Volumes by id. A mounted id that is not in the map does not exist. */
  readonly byId: ReadonlyMap<string, VolumeFact>
  /** Whether the request sends `nodeId` or `volumes`, so that the primaries are checked against the merged spec. */
  readonly sendsPlace: boolean
  /** The largest number of replicas that a scaling policy may desire; absent without a policy. */
  readonly mostReplicas?: number
}

/** The node of a network that a deployment names. */
export interface NetworkFact {
  readonly nodeId: string
  readonly nodeName: string
}

export interface QuotaFact {
  readonly kind: string
  readonly used: number
  /** The amount by which the request would raise the usage of the quota. */
  readonly requested: number
  readonly limit: number
}

export interface Facts {
  readonly existing: ExistingFact | undefined
  /** All dependencies, even indirect ones, by name. A name not in the map does not exist. Read if `dependsOn` is sent. */
  readonly dependencies?: ReadonlyMap<string, DependencyFact>
  /** Names of deployments that wait until this deployment is healthy. Read if the request removes the health check. */
  readonly dependents?: readonly string[]
  /** The registry's response for the image. Read if the request contains `image`. */
  readonly image?: ImageFact
  /** For a rollback: the image digest of the archived revision, which is used even if the tag has moved. */
  readonly archivedDigest?: string
  /** Facts about the requested node. Read if the request contains `nodeId`. */
  readonly node?: NodeFact
  /** Names of other deployments that own a requested route, by index of the route. Read if the routes are new. */
  readonly routeHolders?: ReadonlyMap<number, string>
  /** Stored credentials by label, for all secret entries. A label that belongs to no namespace yet is absent. */
  readonly credentials?: ReadonlyMap<string, CredentialFact>
  /** Facts about data residency. Read if the spec has a residency rule. */
  readonly residency?: ResidencyFact
  /** Facts about the distance to dependencies. Read if the spec has `dependsOn`. */
  readonly distance?: DistanceFact
  /** The mounted volumes. Read if the spec has mounts. */
  readonly volumes?: VolumesFact
  /** The named networks that exist, by name. Read if the spec names networks. */
  readonly networks?: ReadonlyMap<string, NetworkFact>
  readonly quotas?: readonly QuotaFact[]
}

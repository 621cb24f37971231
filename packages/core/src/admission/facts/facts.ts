// Facts from the store and the registry that admission needs, read at one store revision. A fact that was not read is
// absent, and its check is skipped.

import type { DeploymentRecord, ResidencyRules } from '@holdfast/contract'
import type { Stand } from '../../scheduling/residency.ts'
import type { CredentialFact } from '../../secrets/plan-pins.ts'

export interface ExistingFact {
  readonly record: DeploymentRecord
  readonly deleting: boolean
}

/** A deployment that may be a dependency of others, with its own dependencies. */
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
  /** The tenant has nodes, but none with this id. */
  | { readonly answer: 'unknown' }
  | { readonly answer: 'none_enrolled' }
  | { readonly answer: 'unreadable' }

/** The residency configuration and the nodes that may satisfy a residency rule. */
export interface ResidencyFact {
  readonly rules: ResidencyRules
  /** Each node of the tenant whose agent is connected. */
  readonly reachable: readonly Stand[]
}

export interface QuotaFact {
  readonly kind: string
  readonly used: number
  /** The amount by which this request would raise the usage of the quota. */
  readonly requested: number
  readonly limit: number
}

export interface Facts {
  readonly existing: ExistingFact | undefined
  /** Direct and indirect dependencies, by name; those not in the map do not exist. Read if `dependsOn` is sent. */
  readonly dependencies?: ReadonlyMap<string, DependencyFact>
  /** Names of the deployments that wait for this one to be healthy. Read if the request removes the health check. */
  readonly dependents?: readonly string[]
  /** The registry's response for the image. Read if the request contains `image`. */
  readonly image?: ImageFact
  /** For a rollback: the image digest of the archived revision, which is used even if the tag has moved. */
  readonly archivedDigest?: string
  /** Facts about the requested node. Read if the request contains `nodeId`. */
  readonly node?: NodeFact
  /** Names of the deployments that own a requested route, by index of the route. Read if routes are new. */
  readonly routeHolders?: ReadonlyMap<number, string>
  /** Stored credentials by label, for the labels of all secret entries. A label without a namespace is absent. */
  readonly credentials?: ReadonlyMap<string, CredentialFact>
  /** Facts about data residency. Read if the spec has a residency rule. */
  readonly residency?: ResidencyFact
  readonly quotas?: readonly QuotaFact[]
}

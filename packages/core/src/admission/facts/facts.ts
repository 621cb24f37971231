// Facts from the store and the registry that admission needs, read at one revision. Facts that were not read are
// absent and are not checked.

import type { DeploymentRecord, ResidencyRules } from '@holdfast/contract'
import type { Stand } from '../../scheduling/residency.ts'
import type { CredentialFact } from '../../secrets/plan-pins.ts'

export interface ExistingFact {
  readonly record: DeploymentRecord
  readonly deleting: boolean
}

/** A deployment that others may depend on, and its own dependencies. */
export interface DependencyFact {
  readonly hasHealthCheck: boolean
  readonly dependsOn: readonly string[]
}

/** The registry's response for the exact reference. `cause` is written by the server, never by the registry. */
export type ImageFact =
  | { readonly answer: 'exists'; readonly digest: string }
  | { readonly answer: 'absent' }
  | { readonly answer: 'unreachable'; readonly cause: string }
  | { readonly answer: 'credentials_unavailable' }

/** The node that a `nodeId` names. */
export type NodeFact =
  | { readonly answer: 'candidate' }
  /** The control plane runs on the node, and the caller is not the platform tenant. */
  | { readonly answer: 'control_plane' }
  /** The tenant has nodes, but not this one. */
  | { readonly answer: 'unknown' }
  | { readonly answer: 'none_enrolled' }
  | { readonly answer: 'unreadable' }

/** The residency configuration and the nodes it can be satisfied with. */
export interface ResidencyFact {
  readonly rules: ResidencyRules
  /** Each node of the tenant that has a live session. */
  readonly reachable: readonly Stand[]
}

export interface QuotaFact {
  readonly kind: string
  readonly used: number
  /** The number that this request would add. */
  readonly requested: number
  readonly limit: number
}

export interface Facts {
  readonly existing: ExistingFact | undefined
  /** Read if `dependsOn` is sent: every deployment reachable from it, by name. A missing name does not exist. */
  readonly dependencies?: ReadonlyMap<string, DependencyFact>
  /** Read if the health check is removed: names of the deployments that wait until this one is healthy. */
  readonly dependents?: readonly string[]
  /** Read if `image` is sent. */
  readonly image?: ImageFact
  /** For a rollback: the digest of the archived revision, whatever its tag resolves to now. */
  readonly archivedDigest?: string
  /** Read if `nodeId` is sent. */
  readonly node?: NodeFact
  /** Read for new routes: names of the deployments that own them, by index in the list. */
  readonly routeHolders?: ReadonlyMap<number, string>
  /** Read for the labels of all entries: those that are bound to a namespace. */
  readonly credentials?: ReadonlyMap<string, CredentialFact>
  /** Read if the spec has a residency rule. */
  readonly residency?: ResidencyFact
  readonly quotas?: readonly QuotaFact[]
}

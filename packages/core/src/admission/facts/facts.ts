// What an admission needs to know of the world, as data gathered at one revision. What was not asked is absent and is not
// judged. DESIGN 4, step 3.

import type { DeploymentRecord, ResidencyRules } from '@holdfast/contract'
import type { Stand } from '../../scheduling/residency.ts'
import type { CredentialFact } from '../../secrets/plan-pins.ts'

export interface ExistingFact {
  readonly record: DeploymentRecord
  readonly deleting: boolean
}

/** A deployment that may be waited for, and whom it waits for itself. */
export interface DependencyFact {
  readonly hasHealthCheck: boolean
  readonly dependsOn: readonly string[]
}

/** What the registry said about the exact reference. `cause` is ours, never the registry's own text. */
export type ImageFact =
  | { readonly answer: 'exists'; readonly digest: string }
  | { readonly answer: 'absent' }
  | { readonly answer: 'unreachable'; readonly cause: string }
  | { readonly answer: 'credentials_unavailable' }

/** What is known of the node that a `nodeId` names. DECISIONS 3. */
export type NodeFact =
  | { readonly answer: 'candidate' }
  /** A node that the control plane runs on, asked about by anybody but the platform. */
  | { readonly answer: 'control_plane' }
  /** The tenant has nodes, and this is none of them. */
  | { readonly answer: 'unknown' }
  | { readonly answer: 'none_enrolled' }
  | { readonly answer: 'unreadable' }

/** What residency can be honoured with. */
export interface ResidencyFact {
  readonly rules: ResidencyRules
  /** Each node of the tenant that has a live session. */
  readonly reachable: readonly Stand[]
}

export interface QuotaFact {
  readonly kind: string
  readonly used: number
  /** What this request would add. */
  readonly requested: number
  readonly limit: number
}

export interface Facts {
  readonly existing: ExistingFact | undefined
  /** Asked when `dependsOn` is sent: every deployment reachable from it, by name; a missing name is one that does not exist. */
  readonly dependencies?: ReadonlyMap<string, DependencyFact>
  /** Asked where a health check is taken away: the names of those that wait until this one is healthy. */
  readonly dependents?: readonly string[]
  /** Asked when `image` is sent. */
  readonly image?: ImageFact
  /** Of a rollback: what the archived revision ran, whatever its tag says by now. */
  readonly archivedDigest?: string
  /** Asked when `nodeId` is sent. */
  readonly node?: NodeFact
  /** Asked for routes that are new to the deployment: the names of the deployments that have them, by place in the list. */
  readonly routeHolders?: ReadonlyMap<number, string>
  /** Asked for the labels of all entries: those that are bound to a namespace. */
  readonly credentials?: ReadonlyMap<string, CredentialFact>
  /** Asked where the spec demands residency. */
  readonly residency?: ResidencyFact
  readonly quotas?: readonly QuotaFact[]
}

// What was decided about one deployment, and from what.

import type { Assignment, AssignmentId, NodeId, ResidencyRules, TenantId } from '@holdfast/contract'
import type {
  deriveStatus,
  Explanation,
  RetryTrigger,
  RolloutPlan,
  SecretTrouble,
  UnmetDependency,
} from '@holdfast/core'
import type { StoredDeployment, StoredPlacement } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import type { Displacement } from './find-displaced.ts'
import type { TenantView } from './tenant-view.ts'

export interface Decision {
  /** The records are as they should be: there is nothing to write. */
  readonly settled: boolean
  readonly stored: StoredDeployment
  readonly before: StoredPlacement | undefined
  /** The modification revision of `before`, 0 where there is none. */
  readonly decidedOn: number
  /** Undefined: the deployment is being deleted and nothing of it is left. */
  readonly next: StoredPlacement | undefined
  readonly plan: RolloutPlan
  /** What is left of the assignments, each with its `desired` of now. */
  readonly kept: readonly Assignment[]
  readonly added: readonly Assignment[]
  /** Nodes whose record decided something: they are compared at commit. */
  readonly nodeIds: ReadonlySet<NodeId>
  /** Assignments of which what was seen decided that one of their number goes: that is compared at commit as well. */
  readonly seenIds: readonly AssignmentId[]
  /** Where a replica fits nowhere. */
  readonly refused: Explanation | undefined
  readonly cures: readonly RetryTrigger[]
  /** What keeps replicas from being made, if any are to be. */
  readonly unmet: readonly UnmetDependency[]
  readonly status: ReturnType<typeof deriveStatus>
  /** What keeps a container from being made and was not told of this revision yet. */
  readonly unreportedSecrets: readonly SecretTrouble[]
  /** The assignments that serve, as their agents said. */
  readonly ready: ReadonlySet<AssignmentId>
  /** The nodes of its replicas that count as lost. */
  readonly lost: ReadonlySet<NodeId>
  /** The nodes that no longer qualify for what of it is there. */
  readonly displacement: Displacement
  /** What a record writes as the time of now. */
  readonly now: string
}

export interface DecideDeps {
  readonly store: Pick<Store, 'get'>
  readonly tenant: TenantId
  readonly view: TenantView
  readonly residency: ResidencyRules
  readonly now: string
  /** In milliseconds since 1970. */
  readonly listensUntil: number
}

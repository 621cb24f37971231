// The input of rollout planning: the update rules and the target revision of the spec, and facts from the placement
// record.

import type { Assignment, RevisionTarget, Rollout } from '@holdfast/contract'

export interface UpdateRules {
  readonly order: 'start-first' | 'stop-first'
  readonly parallelism: number
  readonly failureAction: 'pause' | 'rollback'
  readonly progressDeadlineMs: number
  /** The watch window: how long an update may still fail after all of its replicas are ready. */
  readonly watchMs: number
}

export interface DesiredDeployment {
  readonly replicas: number
  readonly deleting: boolean
  /** The revision and template hash of the stored spec; undefined until a registry has resolved the image. */
  readonly target: RevisionTarget | undefined
  readonly update: UpdateRules
  readonly stateful: boolean
  /** True while a dependency is not ready, so that no replica is created. */
  readonly gated: boolean
}

export interface PlacedDeployment {
  readonly assignments: readonly Assignment[]
  readonly rollout?: Rollout | undefined
  readonly lastGood?: RevisionTarget | undefined
  /** True if a dependency that was not ready prevented new replicas in the last decision. */
  readonly waited?: boolean
  /** Time before which no replica is overdue, because a new controller may still lack reports of agents. */
  readonly graceUntil?: number
}

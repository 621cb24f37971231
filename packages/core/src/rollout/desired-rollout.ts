// The input of rollout planning: the rules and target of the spec, and the placement record.

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
  /** The revision and template of the stored spec; undefined until a registry has resolved the image. */
  readonly target: RevisionTarget | undefined
  readonly update: UpdateRules
  readonly stateful: boolean
  /** A dependency is unmet: no replica is created. */
  readonly gated: boolean
}

export interface PlacedDeployment {
  readonly assignments: readonly Assignment[]
  readonly rollout?: Rollout | undefined
  readonly lastGood?: RevisionTarget | undefined
  /** The last decision was held back by a dependency. */
  readonly waited?: boolean
  /** No replica is overdue before this time: a new controller may still lack reports of agents. */
  readonly graceUntil?: number
}

// What a rollout is judged by: the spec's rules and target, and what its placement record holds.

import type { Assignment, RevisionTarget, Rollout } from '@holdfast/contract'

export interface UpdateRules {
  readonly order: 'start-first' | 'stop-first'
  readonly parallelism: number
  readonly failureAction: 'pause' | 'rollback'
  readonly progressDeadlineMs: number
  /** How long a revision of which all replicas are ready may still fail as an update. */
  readonly watchMs: number
}

export interface DesiredDeployment {
  readonly replicas: number
  readonly deleting: boolean
  /** What the stored spec is made of; undefined until a registry has said what the image is. */
  readonly target: RevisionTarget | undefined
  readonly update: UpdateRules
  readonly stateful: boolean
  /** A dependency is not as it must be: nothing new is made. */
  readonly gated: boolean
}

export interface PlacedDeployment {
  readonly assignments: readonly Assignment[]
  readonly rollout?: Rollout | undefined
  readonly lastGood?: RevisionTarget | undefined
  /** It stood before a gate when it was last looked at. */
  readonly waited?: boolean
  /** Until then nothing is overdue: whoever decides has only just begun to hear, and agents may have more to say. */
  readonly listensUntil?: number
}

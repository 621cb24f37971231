// The fencer: a process that kills the writers of a group when the primary's lease ends, without the agent's help
// (docs/design/fencer.md#process).

import type { PromotionTimings } from './timings.ts'

export interface FencerState {
  /** The fence is in force. */
  readonly fenced: boolean
}

export interface FencerStep {
  readonly state: FencerState
  /** Kill everything in the group's cgroup parent, also processes that have appeared since the last kill. */
  readonly kill: boolean
  /** The fence came into force with this step. */
  readonly announce: boolean
}

/** A fence stays in force until the agent has written a newer end of the lease. */
export function runFencer(
  state: FencerState,
  leaseEndMs: number,
  nowMs: number,
  { fenceMs }: PromotionTimings,
): FencerStep {
  const fenced = nowMs >= leaseEndMs - fenceMs
  const kill = fenced
  return { state: { fenced }, kill, announce: fenced && !state.fenced }
}

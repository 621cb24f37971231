// The interface of dry runs: a write on an overlay of the stored records, and what the controllers would do after it
// (docs/design/admission.md#dry-runs). The loops implement it, because they have the planner.

import type { Effects, PlanStep, RolloutPlanned, TenantId } from '@holdfast/contract'
import type { Store } from '../store/store.ts'
import type { Outcome } from './caller.ts'

/** The steps of the controllers after a change, and the effects on what runs. */
export interface PlannedChange {
  readonly steps: readonly PlanStep[]
  readonly effects: Effects
  /** The rollout of each deployment that the plan concerns, by name. */
  readonly rollouts: ReadonlyMap<string, RolloutPlanned>
}

export interface DryWrite<T> {
  readonly value: T
  readonly change: PlannedChange
  /** The records after the write and after everything that follows, with all containers ready. */
  readonly after: Store
}

/**
 * Runs a write on an overlay of `before`, then the controllers; `before` does not change. Plans do not block other
 * requests, and a tenant with too many of them at once is rejected.
 */
export type RunDry = <T>(
  tenant: TenantId,
  before: Store,
  act: (store: Store) => Promise<Outcome<T>>,
) => Promise<Outcome<DryWrite<T>>>

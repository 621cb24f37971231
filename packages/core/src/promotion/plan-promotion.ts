// Which copy does the controller prepare after the primary has fallen silent? The choice affects how much is lost, not
// whether there are two writers: that depends on the vote and on the transaction.

import type { GroupRecord } from './group-record.ts'
import { type Checkpoint, isNewer } from './messages.ts'
import type { PromotionTimings } from './timings.ts'

export interface Candidate {
  readonly node: string
  /** The newest verified checkpoint of the whole group. */
  readonly held: Checkpoint | undefined
  readonly lagMs: number
  /** The copy has reported that its promise expired. */
  readonly expired: boolean
  /** Residency and every filter of the writer accept the node. */
  readonly accepted: boolean
}

export interface PromotionFacts {
  readonly record: GroupRecord
  /** Undefined while the primary sends heartbeats. */
  readonly silentSinceMs: number | undefined
  readonly promotedAtMs: number | undefined
  readonly candidates: readonly Candidate[]
  readonly nowMs: number
}

export type PromotionPlan =
  | { readonly prepare: string }
  | { readonly wait: 'primary_alive' | 'promoted_recently' | 'no_candidate' | 'lagging' }

export function planPromotion(facts: PromotionFacts, timings: PromotionTimings): PromotionPlan {
  const { record, silentSinceMs, promotedAtMs, candidates, nowMs } = facts
  if (silentSinceMs === undefined || nowMs - silentSinceMs < timings.silentAfterMs)
    return { wait: 'primary_alive' }
  if (promotedAtMs !== undefined && nowMs - promotedAtMs < timings.promotionsApartMs)
    return { wait: 'promoted_recently' }
  const best = candidates
    .filter(({ node, expired, accepted }) => expired && accepted && record.promotable.includes(node))
    .reduce<Candidate | undefined>(better, undefined)
  if (best?.held === undefined) return { wait: 'no_candidate' }
  return best.lagMs > timings.maxLagMs ? { wait: 'lagging' } : { prepare: best.node }
}

/** The copy with the newer checkpoint; of two equal ones the first. */
function better(one: Candidate | undefined, other: Candidate): Candidate {
  if (one?.held === undefined) return other
  return other.held !== undefined && isNewer(other.held, one.held) ? other : one
}

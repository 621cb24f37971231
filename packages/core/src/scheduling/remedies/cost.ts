// Decides which of two remedies is cheaper. First the most expensive kind of change is compared, by the number of changes
// of that kind, then the next most expensive kind. Between remedies with the same kinds of change, the smaller amount is
// cheaper: less to free, or fewer replicas to move.

import type { ChangeKind } from '@holdfast/contract'
import type { Step } from './apply-changes.ts'

/**
 * The kinds of change from cheap to expensive: changes that take a moment and affect nothing else, changes to nodes and
 * to other deployments, lower requests of the deployment, a new enrollment, and last residency, which must not be
 * weakened for convenience.
 */
const CHEAPEST_FIRST = [
  'uncordon',
  'raise_quota',
  'free',
  'set_label',
  'upgrade_agent',
  'place_beside',
  'move_away',
  'make_ready',
  'lower_request',
  'name_node',
  'change_constraint',
  'change_affinity',
  'change_anti_affinity',
  'change_networks',
  'attest_label',
  'enforce_residency',
  'change_residency',
] as const satisfies readonly ChangeKind[]

const RANKS: { readonly [kind: string]: number } = Object.fromEntries(
  CHEAPEST_FIRST.map((kind, rank) => [kind, rank]),
)

/** A change with its size. `amount` grows with the size of the change; it is 1 if the change has no size. */
export interface PricedStep extends Step {
  readonly amount: number
}

export interface Cost {
  /**
   * The rank of every change, the most expensive first. The number of equal ranks is the number of changes of one kind.
   */
  readonly ranks: readonly number[]
  /** The sum of the amounts of all changes of a remedy. */
  readonly amount: number
}

export function costOf(steps: readonly PricedStep[]): Cost {
  const ranks: number[] = []
  let total = 0
  for (const { kind, amount } of steps) {
    insertSorted(ranks, RANKS[kind] ?? 0)
    total += amount
  }
  return { ranks, amount: total }
}

function insertSorted(ranks: number[], rank: number): void {
  let at = ranks.length
  for (; at > 0 && (ranks[at - 1] ?? rank) < rank; at -= 1) ranks[at] = ranks[at - 1] ?? rank
  ranks[at] = rank
}

const NOTHING_LEFT = -1

/** Returns a negative number if the left remedy is cheaper, and 0 if both cost the same. */
export function compareCosts(left: Cost, right: Cost): number {
  const length = Math.max(left.ranks.length, right.ranks.length)
  for (let at = 0; at < length; at += 1) {
    const difference = (left.ranks[at] ?? NOTHING_LEFT) - (right.ranks[at] ?? NOTHING_LEFT)
    if (difference !== 0) return difference
  }
  return left.amount - right.amount
}

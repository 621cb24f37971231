// Which of two cures is the cheaper one? The dearest kind of change decides, by how many of it there are, then the next
// dearest; between cures of the same kinds, how much of it: less to free, fewer containers more, fewer replicas to move.
//
// The order of the kinds, from what takes a moment and hinders nobody to what somebody must answer for:
// a node is opened, a limit raised, room made; labels, neighbours and the machine itself are seen to; the deployment asks for
// less; the machine is enrolled anew; and last what says where data may be, which is nobody's to weaken for convenience.

import type { ChangeKind } from '@holdfast/contract'
import type { Step } from './apply-changes.ts'

const CHEAPEST_FIRST = [
  'uncordon',
  'raise_quota',
  'free',
  'set_label',
  'place_beside',
  'move_away',
  'make_ready',
  'lower_request',
  'name_node',
  'change_constraint',
  'change_affinity',
  'change_anti_affinity',
  'attest_label',
  'enforce_residency',
  'change_residency',
] as const satisfies readonly ChangeKind[]

/** More of one kind than any cure has: a cure is then a number whose digits count its changes, the dearest in front. */
const BASE = 80
/** Digits that a number of 53 bits holds. */
const DIGITS = 8

const WEIGHTS: { readonly [kind: string]: number } = Object.fromEntries(
  CHEAPEST_FIRST.map((kind, rank) => [kind, BASE ** (rank % DIGITS)]),
)
const DEAR: ReadonlySet<string> = new Set(CHEAPEST_FIRST.slice(DIGITS))

/** `amount` grows with how much of its kind a step is; 1 where there is nothing to count. */
export interface PricedStep extends Step {
  readonly amount: number
}

export interface Cost {
  readonly dear: number
  readonly cheap: number
  readonly amount: number
}

export function costOf(steps: readonly PricedStep[]): Cost {
  let dear = 0
  let cheap = 0
  let total = 0
  for (const { kind, amount } of steps) {
    const weight = WEIGHTS[kind] ?? 0
    if (DEAR.has(kind)) dear += weight
    else cheap += weight
    total += amount
  }
  return { dear, cheap, amount: total }
}

/** Below 0: the left one is cheaper. */
export const compareCosts = (left: Cost, right: Cost): number =>
  left.dear - right.dear || left.cheap - right.cheap || left.amount - right.amount

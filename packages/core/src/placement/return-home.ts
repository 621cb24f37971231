// A replica of a tenant that is already on a control-plane node may be recreated there: an update, a restart or a rotation
// is no new placement. One more replica is. See docs/design/liveness.md#control-plane-nodes

import type { MissingReplica } from '../rollout/desired-replicas.ts'
import type { Placing, Workload } from '../scheduling/index.ts'
import type { PlacementSnapshot } from './snapshot.ts'

type Home = Pick<PlacementSnapshot, 'workload' | 'placement' | 'nodeOf'>

/** The workload as one replica number may be placed: also on the control-plane nodes that already have the number. */
export function workloadFor({ workload, placement, nodeOf }: Home, replica: number): Workload {
  if (workload.ofPlatform) return workload
  const own = (placement?.assignments ?? []).filter((each) => each.replica === replica)
  const homes = own.map(({ nodeId }) => nodeId).filter((id) => nodeOf(id)?.controlPlane === true)
  return homes.length === 0 ? workload : { ...workload, returnsTo: [...new Set(homes)].sort() }
}

/** Replicas that may be placed on the same nodes. */
export interface Turn {
  readonly workload: Workload
  readonly count: number
}

export interface Turns {
  /** The missing replicas in the order in which they are placed. */
  readonly missing: readonly MissingReplica[]
  readonly turns: readonly Turn[]
}

/**
 * Orders the first `count` missing replicas: those that may return to a control-plane node come first, one by one,
 * because they fit wherever the others fit.
 */
export function planTurns(home: Home, missing: readonly MissingReplica[], count: number): Turns {
  const first = missing.slice(0, count)
  const returning = first.filter(({ replica }) => workloadFor(home, replica) !== home.workload)
  const others = first.filter((each) => !returning.includes(each))
  const last = others.length === 0 ? [] : [{ workload: home.workload, count: others.length }]
  if (returning.length === 0) return { missing, turns: last }
  return {
    missing: [...returning, ...others, ...missing.slice(count)],
    turns: [...returning.map(({ replica }) => ({ workload: workloadFor(home, replica), count: 1 })), ...last],
  }
}

/** Places the turns one after the other, and stops at the first replica that fits nowhere. */
export function placeTurns(
  scheduling: PlacementSnapshot['scheduling'],
  [turn, ...later]: readonly [Turn, ...Turn[]],
): Placing {
  const placing = scheduling.place(turn.workload, turn.count)
  const [next, ...others] = later
  if (next === undefined) return placing
  if (placing.unplaced > 0) {
    const waiting = later.reduce((sum, { count }) => sum + count, 0)
    return refusedBy(placing, placing.placed, placing.unplaced + waiting)
  }
  const { name, resources } = turn.workload
  const entered = placing.placed.map((nodeId) => ({ kind: 'enter' as const, nodeId, name, resources }))
  const rest = scheduling.hypothetically(entered, () => placeTurns(scheduling, [next, ...others]))
  return refusedBy(rest, [...placing.placed, ...rest.placed], rest.unplaced)
}

/** A placing with the explanation of `placing`, which is computed only if it is read. */
const refusedBy = (placing: Placing, placed: Placing['placed'], unplaced: number): Placing => ({
  placed,
  unplaced,
  get candidates() {
    return placing.candidates
  },
  get explanation() {
    return placing.explanation
  },
  get cures() {
    return placing.cures
  },
})

// Decides which assignments of one replica number leave, and what the replica number needs next. Each assignment gets a
// class (classify-replicas.ts). The columns are the state of the assignment that fits the desired state: the assignment
// is serving, it is coming (not serving yet), or there is none:
//
//   class      | serving | coming | none
//   -----------|---------|--------|------
//   serving    | stay    |        |
//   coming     |         | stay   |
//   surplus    | leave   | leave  |
//   standby    | stay    | stay   | stay
//   outgoing   | leave   | stay   | stay
//   duplicate  | leave   | stay   | leave
//   barred     | leave   | stay   | leave
//   failed     | leave   | leave  | leave
//   lost       | leave   | leave  | leave
//   sole       |         |        | stay
//   going      | leave   | leave  | leave
//
// An empty cell cannot occur. By the table, a serving replica leaves only once another replica of the same number
// serves, or if it must not run on its node.
// See docs/design/rollouts.md#desired-replicas

import type { Assignment } from '@holdfast/contract'
import { classifyReplicas, type ReplicaClass } from './classify-replicas.ts'
import type { DesiredReplicas, MissingReplica, ReplicaFacts } from './desired-replicas.ts'
import { isServing } from './replica-health.ts'

/**
 * The state of the assignment that fits the desired state: it serves, it does not serve yet (`coming`), or there is no
 * such assignment.
 */
export type FittingState = 'serving' | 'coming' | 'none'

export const DECISION_TABLE: {
  readonly [each in ReplicaClass]: { readonly [fitting in FittingState]?: 'stay' | 'leave' }
} = {
  serving: { serving: 'stay' },
  coming: { coming: 'stay' },
  surplus: { serving: 'leave', coming: 'leave' },
  standby: { serving: 'stay', coming: 'stay', none: 'stay' },
  outgoing: { serving: 'leave', coming: 'stay', none: 'stay' },
  duplicate: { serving: 'leave', coming: 'stay', none: 'leave' },
  barred: { serving: 'leave', coming: 'stay', none: 'leave' },
  failed: { serving: 'leave', coming: 'leave', none: 'leave' },
  lost: { serving: 'leave', coming: 'leave', none: 'leave' },
  sole: { none: 'stay' },
  going: { serving: 'leave', coming: 'leave', none: 'leave' },
}

export interface NumberPlan {
  readonly leaving: readonly Assignment[]
  /** The replica to create, because the replica number has no replica. */
  readonly empty?: MissingReplica
  /**
   * Set if no replica of the number fits the desired state. When parallelism allows, the number gets a successor, or its
   * old replica is stopped first.
   */
  readonly outdated?: OutdatedNumber
  /** True while a successor is starting, has failed again, or waits until the old replica is gone. */
  readonly moving: boolean
  /** The number of containers that the replica number will need less, once what is under way has ended. */
  readonly releases: number
}

interface OutdatedNumber {
  readonly successor: MissingReplica
  readonly old: readonly Assignment[]
  /** True if no node accepts a successor, so that the old replica is not stopped. */
  readonly stranded: boolean
}

export interface NumberedGroup {
  readonly replica: number
  /** All assignments of the replica number whose container may exist, including those that are being removed. */
  readonly group: readonly Assignment[]
  /** Number of further containers that the quota allows. */
  readonly room: number
}

export function planNumber(
  desired: DesiredReplicas,
  numbered: NumberedGroup,
  facts: ReplicaFacts,
): NumberPlan {
  const classes = classifyReplicas(desired, numbered.group, facts)
  const inClass = (wanted: ReplicaClass) => numbered.group.filter((each) => classes.get(each) === wanted)
  const [serving] = inClass('serving')
  const [coming] = inClass('coming')
  const fitting = fittingState(serving, coming)
  const leaving = numbered.group.filter((each) => {
    const found = classes.get(each)
    return found !== undefined && DECISION_TABLE[found][fitting] === 'leave'
  })
  const isConfirmable = ({ nodeId }: Assignment) => facts.dispositionOf(nodeId) !== 'failed'
  const ending = leaving.filter(isConfirmable).length
  if (serving !== undefined) return { leaving, moving: false, releases: ending }
  // An update waits for every replica that it has created. Other replacements wait only for replicas that were never
  // ready.
  if (coming !== undefined) {
    const later = REPLACED.flatMap(inClass).filter(isConfirmable).length
    const moving = desired.careful || facts.seen(coming.id)?.state !== 'ready'
    return { leaving, moving, releases: ending + later }
  }
  const next = planSuccessor(desired, numbered, facts, inClass('outgoing'), leaving)
  // The container that a waiting successor needs is one of those that are released.
  return { leaving, ...next, releases: next.moving ? ending - 1 : ending }
}

/** The classes that stay while a replica is coming, and leave as soon as it serves. */
const REPLACED: readonly ReplicaClass[] = ['outgoing', 'duplicate', 'barred']

const fittingState = (serving: Assignment | undefined, coming: Assignment | undefined): FittingState => {
  if (serving !== undefined) return 'serving'
  return coming !== undefined ? 'coming' : 'none'
}

/** The next step for a replica number that has no fitting assignment. */
function planSuccessor(
  desired: DesiredReplicas,
  { replica, group, room }: NumberedGroup,
  facts: ReplicaFacts,
  old: readonly Assignment[],
  leaving: readonly Assignment[],
): Omit<NumberPlan, 'leaving' | 'releases'> {
  // While updates are on hold, a replica is replaced by a replica of the same revision.
  const like = desired.hold ? (old.find((each) => isServing(each, facts)) ?? old[0]) : undefined
  const aim = like ?? desired.aim
  if (aim === undefined) return { moving: false }
  const successor = { replica, revision: aim.revision, templateHash: aim.templateHash }
  const stranded = old.every(({ nodeId }) => facts.dispositionOf(nodeId) === 'stranded')
  if (old.length > 0) return { outdated: { successor, old, stranded }, moving: false }
  // The removal of a replica on a lost node may never be confirmed. A successor waits for the removal only if the lost
  // replica may still write.
  const isAwaited = (each: Assignment) =>
    facts.isSuperseded?.(each) !== true && (desired.stateful || facts.dispositionOf(each.nodeId) !== 'failed')
  const awaitsRemoval = group.some((each) => leaving.includes(each) && isAwaited(each))
  return awaitsRemoval && (desired.stopFirst || room <= 0)
    ? { moving: true }
    : { empty: successor, moving: false }
}

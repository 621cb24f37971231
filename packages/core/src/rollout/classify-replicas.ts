// Assigns a class to each assignment of one replica number. By the class, the decision table in plan-replicas-number.ts
// decides whether the assignment stays or leaves.

import type { Assignment } from '@holdfast/contract'
import type { DesiredReplicas, ReplicaFacts } from './desired-replicas.ts'
import { failureOf, isServing } from './replica-health.ts'

/**
 * The classes of the assignments of one replica number. An assignment fits if it has the desired template, its node may
 * keep it, and it is no failed attempt of an earlier revision.
 * `serving`: the one assignment that fits, and it serves.
 * `coming`: the one assignment that fits, but it does not serve yet.
 * `surplus`: fits, but another assignment that fits is enough.
 * `standby`: is left unchanged while an update is paused or the image is unresolved.
 * `outgoing`: does not fit, and is needed until its successor serves.
 * `duplicate`: an outgoing replica that serves beside another outgoing replica, which is enough.
 * `barred`: does not fit, and must not run on its node.
 * `failed`: does not fit, and no client depends on it: it was never ready, or has failed for good.
 * `lost`: its node is lost or its volumes moved away, and another assignment of the replica number is alive.
 * `sole`: its node is lost or its volumes moved away, and no other assignment of the replica number is alive.
 * `going`: is already being removed.
 */
export type ReplicaClass =
  | 'serving'
  | 'coming'
  | 'surplus'
  | 'standby'
  | 'outgoing'
  | 'duplicate'
  | 'barred'
  | 'failed'
  | 'lost'
  | 'sole'
  | 'going'

export function classifyReplicas(
  desired: DesiredReplicas,
  group: readonly Assignment[],
  facts: ReplicaFacts,
): Map<Assignment, ReplicaClass> {
  const classes = new Map<Assignment, ReplicaClass>()
  const running = group.filter((each) => each.desired === 'running')
  // Two replicas with a read-write mount must never exist at once, so a replica on a lost node counts as alive: it may
  // still write.
  const isLost = (each: Assignment) =>
    facts.isSuperseded?.(each) === true ||
    (!desired.stateful && facts.dispositionOf(each.nodeId) === 'failed')
  const alive = running.filter((each) => !isLost(each))
  for (const each of group) {
    if (each.desired !== 'running') classes.set(each, 'going')
    else if (isLost(each)) classes.set(each, alive.length > 0 ? 'lost' : 'sole')
  }
  const fitting = desired.hold ? fittingInHold(desired, alive, facts) : fittingAim(desired, alive, facts)
  const chosen = fitting.find((each) => isServing(each, facts)) ?? fitting[0]
  for (const each of alive) {
    if (each === chosen) classes.set(each, isServing(each, facts) ? 'serving' : 'coming')
    else if (fitting.includes(each)) classes.set(each, desired.hold ? 'standby' : 'surplus')
    else classes.set(each, classOfUnfit(desired, each, alive, facts))
  }
  const outgoing = alive.filter((each) => classes.get(each) === 'outgoing')
  for (const each of findDuplicates(desired, outgoing, facts)) classes.set(each, 'duplicate')
  return classes
}

function classOfUnfit(
  desired: DesiredReplicas,
  each: Assignment,
  alive: readonly Assignment[],
  facts: ReplicaFacts,
): ReplicaClass {
  const disposition = facts.dispositionOf(each.nodeId)
  if (desired.hold && isLeftAsItIs(desired, each, alive, facts)) return 'standby'
  if (!desired.gated && (isUncreated(desired, each, facts) || isUseless(desired, each, facts)))
    return 'failed'
  return disposition === 'barred' ? 'barred' : 'outgoing'
}

/** Whether no container of the replica can be created where it is. On hold, its successor must be like itself. */
const isUncreated = ({ hold }: DesiredReplicas, { id }: Assignment, facts: ReplicaFacts): boolean =>
  !hold && facts.isUncreated?.(id) === true

function fittingAim(
  desired: DesiredReplicas,
  alive: readonly Assignment[],
  facts: ReplicaFacts,
): Assignment[] {
  return alive.filter(
    (each) =>
      each.templateHash === desired.aim?.templateHash &&
      mayStay(desired, each, facts) &&
      !isOfFormerAttempt(desired, each, facts),
  )
}

/**
 * Whether a replica may stay on its node, which must be able to create its container. A replica with a read-write mount stays
 * with its data, unless residency forbids the node.
 */
function mayStay({ stateful }: DesiredReplicas, { id, nodeId }: Assignment, facts: ReplicaFacts): boolean {
  if (facts.isUncreated?.(id) === true) return false
  const disposition = facts.dispositionOf(nodeId)
  return disposition === 'staying' || (stateful && disposition !== 'barred')
}

function isOfFormerAttempt(desired: DesiredReplicas, each: Assignment, facts: ReplicaFacts): boolean {
  return (
    each.revision < desired.recreatedBefore && !isServing(each, facts) && failureOf(each, facts) !== undefined
  )
}

/**
 * The assignments that need no replacement while the update is on hold, whatever their revision. A failed replica is
 * included only if its replica number has no other replica.
 */
function fittingInHold(
  desired: DesiredReplicas,
  alive: readonly Assignment[],
  facts: ReplicaFacts,
): Assignment[] {
  const others = alive.filter((each) => !isFailedInHold(desired, each, facts))
  if (others.length > 0)
    return others.filter(
      ({ id, nodeId }) => facts.dispositionOf(nodeId) === 'staying' && facts.isUncreated?.(id) !== true,
    )
  return alive.filter(({ nodeId }) => facts.dispositionOf(nodeId) !== 'barred').slice(0, 1)
}

const isFailedInHold = (desired: DesiredReplicas, each: Assignment, facts: ReplicaFacts): boolean =>
  each.templateHash === desired.failedHash && !isServing(each, facts)

/**
 * Whether a replica is left unchanged while the update is on hold. A failed replica does not prevent a node from being
 * drained, unless it is the only replica of its number.
 */
function isLeftAsItIs(
  desired: DesiredReplicas,
  { id, nodeId }: Assignment,
  alive: readonly Assignment[],
  facts: ReplicaFacts,
): boolean {
  if (facts.isUncreated?.(id) === true) return false
  const disposition = facts.dispositionOf(nodeId)
  const hasOthers = alive.some((each) => !isFailedInHold(desired, each, facts))
  return hasOthers ? disposition === 'staying' : disposition !== 'barred'
}

/**
 * Whether no client depends on a replica. Replicas of the last good revision are kept, because a single observation may
 * be misleading.
 */
function isUseless(desired: DesiredReplicas, each: Assignment, facts: ReplicaFacts): boolean {
  if (desired.hold || each.templateHash === desired.goodHash || isServing(each, facts)) return false
  if (facts.dispositionOf(each.nodeId) === 'stranded') return false
  return facts.seen(each.id)?.state !== 'ready' || failureOf(each, facts) !== undefined
}

/**
 * Finds surplus serving replicas among the outgoing ones. A replica whose revision is superseded just when it becomes
 * ready serves beside the replica that it should have replaced. One of the two is enough, preferably that of the last
 * good revision; the other would occupy capacity that the newest revision may need.
 */
function findDuplicates(
  { aim, goodHash }: DesiredReplicas,
  outgoing: readonly Assignment[],
  facts: ReplicaFacts,
): Assignment[] {
  const superseded = outgoing.filter(({ templateHash }) => templateHash !== aim?.templateHash)
  const serving = superseded.filter((each) => isServing(each, facts))
  const kept = serving.find(({ templateHash }) => templateHash === goodHash) ?? serving.at(-1)
  return serving.filter((each) => each !== kept)
}

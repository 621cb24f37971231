// Starts, ends and fails a rollout in the placement record: a new target or revision starts it, the end of its watch
// window ends it, and a failed replica or a missed deadline fails it. All times are stored in the record, so a new
// controller continues where the last controller stopped. A stored time in the future means that a clock was set back.
// See docs/design/rollouts.md#watch-window

import { type Assignment, defined, type RevisionTarget, type Rollout } from '@holdfast/contract'
import { containerCause } from '../node/container-cause.ts'
import { hasValidReports, type ReplicaFacts } from './desired-replicas.ts'
import type { DesiredDeployment, PlacedDeployment } from './desired-rollout.ts'
import type { ReplicaPlan } from './plan-replicas.ts'
import { failureOf, isServing } from './replica-health.ts'

export interface RolloutContext {
  readonly desired: DesiredDeployment
  readonly placed: PlacedDeployment
  readonly facts: ReplicaFacts
  readonly count: number
  readonly now: number
}

const timeOf = (now: number): string => new Date(now).toISOString()

/** The rollout in progress, or a rollout that has to start now; undefined if the desired revision already runs. */
export function currentRollout(context: RolloutContext): Rollout | undefined {
  const { desired, placed, count } = context
  const { target } = desired
  if (count === 0) return undefined
  // Until the image is resolved, no rollout starts, and the rollout in progress is not evaluated.
  if (target === undefined) return placed.rollout
  const before = placed.rollout
  const same = before?.templateHash === target.templateHash
  if (same && before.revision === target.revision) return withoutFutureTime(context, before)
  if (same && before.state === 'progressing') return continueRollout(context, before, target)
  const old = activeAssignments(context).some(({ templateHash }) => templateHash !== target.templateHash)
  const { lastGood } = placed
  if (before === undefined && lastGood?.templateHash === target.templateHash && !old) return undefined
  const time = timeOf(context.now)
  return {
    ...target,
    since: target.revision,
    startedAt: time,
    progressedAt: time,
    state: 'progressing',
    ready: readyOf(context, target).size,
    replaces: lastGood !== undefined || old,
  }
}

/**
 * Continues a rollout with another revision of the same template, for example with more replicas. The progress deadline
 * starts again, and a first rollout that has failed may fail again.
 */
function continueRollout(context: RolloutContext, before: Rollout, target: RevisionTarget): Rollout {
  const { failure: _, ...rest } = before
  const continued = { ...rest, revision: target.revision, continuedAt: timeOf(context.now) }
  return withProgress(context, continued, readyOf(context, target).size)
}

/** The rollout after progress now. The watch window belongs to the template, so it starts only once. */
function withProgress({ count, now }: RolloutContext, rollout: Rollout, ready: number): Rollout {
  const progressed = { ...rollout, ready, progressedAt: timeOf(now) }
  const isFirst = ready === count && rollout.watchedSince === undefined
  return isFirst ? { ...progressed, watchedSince: timeOf(now) } : progressed
}

function withoutFutureTime({ now, placed, desired }: RolloutContext, rollout: Rollout): Rollout {
  const waited = placed.waited === true && !desired.gated
  const { progressedAt, watchedSince } = rollout
  const ahead = [progressedAt, watchedSince ?? ''].some((time) => Date.parse(time) > now)
  if (rollout.state !== 'progressing' || !(waited || ahead)) return rollout
  const time = timeOf(now)
  return { ...rollout, progressedAt: time, ...(watchedSince === undefined ? {} : { watchedSince: time }) }
}

/** Desired assignments whose container is not gone and whose node is not lost. */
function activeAssignments({ placed, facts, count }: RolloutContext): Assignment[] {
  return placed.assignments.filter(({ id, nodeId, replica, desired }) => {
    if (desired !== 'running' || replica > count || facts.seen(id)?.gone === true) return false
    return hasValidReports(facts.dispositionOf(nodeId))
  })
}

/** The replica numbers with a serving replica of the target revision. */
function readyOf(context: RolloutContext, { templateHash }: RevisionTarget): Set<number> {
  const own = activeAssignments(context).filter((each) => each.templateHash === templateHash)
  return new Set(own.filter((each) => isServing(each, context.facts)).map(({ replica }) => replica))
}

/**
 * Pauses a rollout that has failed, or rolls it back to the last good revision. A rollout that replaces no replicas has
 * nothing to return to: it notes its failure once and keeps trying.
 */
export function failRollout(context: RolloutContext, rollout: Rollout): Rollout {
  if (rollout.state !== 'progressing' || context.desired.target === undefined) return rollout
  if (!rollout.replaces && rollout.failure !== undefined) return rollout
  const found = failedReplica(context, rollout) ?? overdueReplica(context, rollout)
  if (found === undefined) return rollout
  const failure = { ...found, at: timeOf(context.now) }
  return { ...rollout, state: stateAfterFailure(context, rollout), failure }
}

function stateAfterFailure({ desired, placed: { lastGood } }: RolloutContext, rollout: Rollout) {
  if (!rollout.replaces) return 'progressing'
  const canRollBack = desired.update.failureAction === 'rollback' && lastGood !== undefined
  return canRollBack && lastGood.templateHash !== rollout.templateHash ? 'rolling_back' : 'paused'
}

type FoundFailure = Omit<NonNullable<Rollout['failure']>, 'at'>

function failedReplica(context: RolloutContext, rollout: Rollout): FoundFailure | undefined {
  for (const each of activeAssignments(context)) {
    if (each.templateHash !== rollout.templateHash || each.revision < rollout.since) continue
    const reason = failureOf(each, context.facts)
    if (reason !== undefined) return failureAt(context, each, reason)
  }
  return undefined
}

function failureAt(
  { facts }: RolloutContext,
  { id, replica, nodeId }: Assignment,
  reason: string,
): FoundFailure {
  return { reason, replica, nodeId, ...defined({ cause: containerCause(facts.seen(id)) }) }
}

/**
 * Returns the lowest replica number that is not ready, once the progress deadline has passed. Time spent waiting for a
 * dependency does not count towards the deadline.
 */
function overdueReplica(context: RolloutContext, rollout: Rollout): FoundFailure | undefined {
  const { desired, facts, count, now } = context
  if (desired.gated || now < deadlineOf(context, rollout)) return undefined
  const ready = readyOf(context, rollout)
  if (hasUnstoredProgress(rollout, ready.size)) return undefined
  const own = activeAssignments(context).filter(({ templateHash }) => templateHash === rollout.templateHash)
  for (let replica = 1; replica <= count; replica += 1) {
    if (ready.has(replica)) continue
    const found = own.find((each) => each.replica === replica)
    if (found === undefined && rollout.replaces) return { reason: 'unschedulable', replica }
    if (found !== undefined && now >= overdueAt(context, rollout, found))
      return failureAt(context, found, facts.seen(found.id)?.reason || 'progress_deadline')
  }
  return undefined
}

/**
 * When a replica that is not ready is overdue. The replicas of a first rollout may wait for a node without a limit, so
 * each has its own deadline.
 */
function overdueAt(context: RolloutContext, rollout: Rollout, { assignedAt }: Assignment): number {
  const deadline = deadlineOf(context, rollout)
  const own = Date.parse(assignedAt) + context.desired.update.progressDeadlineMs
  return rollout.replaces ? deadline : Math.max(deadline, own)
}

/** Whether replicas became ready whose progress is not stored, as a first rollout stores it only when it matters. */
const hasUnstoredProgress = (rollout: Rollout, ready: number): boolean =>
  !rollout.replaces && ready > rollout.ready

interface AdvancedRollout {
  readonly rollout: Rollout | undefined
  readonly lastGood: RevisionTarget | undefined
}

/**
 * Records that a further replica of the rollout became ready, with the time. Once all replicas are ready and the watch
 * window is over, the revision is recorded as good and the rollout ends.
 */
export function advanceRollout(
  context: RolloutContext,
  rollout: Rollout | undefined,
  { forcedByQuota, kept }: Pick<ReplicaPlan, 'forcedByQuota' | 'kept'>,
): AdvancedRollout {
  const { placed, desired, count, now } = context
  const lastGood = lastGoodOf(placed.lastGood, desired.target)
  if (rollout?.state !== 'progressing' || desired.target === undefined) return { rollout, lastGood }
  const isNewlyForced = forcedByQuota.length > 0 && rollout.quotaReached !== true
  const noted = isNewlyForced ? { ...rollout, quotaReached: true } : rollout
  const ready = readyOf(context, rollout).size
  // A rollout that replaces no replicas records progress only for its last replica and at its deadline, to avoid a write
  // for each replica of a new deployment.
  const isStored = rollout.replaces || ready === count || now >= deadlineOf(context, rollout)
  const progressed = ready > rollout.ready && isStored ? withProgress(context, noted, ready) : noted
  const { revision, templateHash } = rollout
  const old = kept.some((each) => each.desired === 'running' && each.templateHash !== templateHash)
  if (old || ready < count || now < endOfWatch(context, progressed)) return { rollout: progressed, lastGood }
  const same = lastGood?.templateHash === templateHash ? lastGood : undefined
  return { rollout: undefined, lastGood: { ...same, revision, templateHash } }
}

/** The last good revision. The target revision is good as well if it has the same template as the last good one. */
function lastGoodOf(lastGood: RevisionTarget | undefined, target: RevisionTarget | undefined) {
  const later = lastGood?.templateHash === target?.templateHash && lastGood?.revision !== target?.revision
  return later && target !== undefined ? { ...lastGood, ...target } : lastGood
}

function endOfWatch(
  { desired: { update } }: RolloutContext,
  { watchedSince, progressedAt }: Rollout,
): number {
  return Date.parse(watchedSince ?? progressedAt) + Math.min(update.watchMs, update.progressDeadlineMs)
}

export function endsAt(context: RolloutContext, rollout: Rollout): number | undefined {
  if (rollout.state !== 'progressing' || context.desired.target === undefined) return undefined
  const ready = readyOf(context, rollout)
  if (ready.size === context.count) return endOfWatch(context, rollout)
  if (rollout.replaces) return deadlineOf(context, rollout)
  if (rollout.failure !== undefined) return undefined
  const late = activeAssignments(context).filter(
    ({ replica, templateHash }) => templateHash === rollout.templateHash && !ready.has(replica),
  )
  const times = late.map((each) => overdueAt(context, rollout, each)).filter((time) => time > context.now)
  return times.length === 0 ? undefined : Math.min(...times)
}

function deadlineOf({ desired: { update }, placed }: RolloutContext, { progressedAt }: Rollout): number {
  return Math.max(Date.parse(progressedAt) + update.progressDeadlineMs, placed.graceUntil ?? 0)
}

// What a rollout's record becomes: begun by another target or revision, ended by its watch, failed by what is seen of its
// replicas or by the time since one was last found ready. DECISIONS 4 (Ready, update). Times are the record's, so that
// whoever takes over goes on where the last one stopped; a time that lies ahead says that a clock was set back.

import type { Assignment, RevisionTarget, Rollout } from '@holdfast/contract'
import { isHeard, type ReplicaFacts } from './desired-replicas.ts'
import type { DesiredDeployment, PlacedDeployment } from './desired-rollout.ts'
import type { ReplicaPlan } from './plan-replicas.ts'
import { failureOf, isServing } from './replica-health.ts'

export interface RolloutContext {
  readonly wished: DesiredDeployment
  readonly placed: PlacedDeployment
  readonly facts: ReplicaFacts
  readonly count: number
  readonly now: number
}

const timeOf = (now: number): string => new Date(now).toISOString()

/** The one that is under way, or the one that must begin now; undefined: what runs is what is wished. */
export function currentRollout(context: RolloutContext): Rollout | undefined {
  const { wished, placed, count } = context
  const { target } = wished
  if (count === 0) return undefined
  // Until it is known what is wished, nothing begins and nothing that has begun is judged.
  if (target === undefined) return placed.rollout
  const before = placed.rollout
  const same = before?.templateHash === target.templateHash
  if (same && before.revision === target.revision) return notAhead(context, before)
  if (same && before.state === 'progressing') return goOn(context, before, target)
  const old = standing(context).some(({ templateHash }) => templateHash !== target.templateHash)
  const { lastGood } = placed
  if (before === undefined && lastGood?.templateHash === target.templateHash && !old) return undefined
  const time = timeOf(context.now)
  return {
    ...target,
    ...{ since: target.revision, startedAt: time, progressedAt: time, state: 'progressing' },
    ready: readyOf(context, target).size,
    replaces: lastGood !== undefined || old,
  }
}

/** Another revision of the same template: more replicas, or other rules. Its time begins anew. */
const goOn = (context: RolloutContext, before: Rollout, target: RevisionTarget): Rollout => ({
  ...before,
  revision: target.revision,
  progressedAt: timeOf(context.now),
  ready: readyOf(context, target).size,
})

function notAhead({ now, placed, wished }: RolloutContext, rollout: Rollout): Rollout {
  const waited = placed.waited === true && !wished.gated
  const ahead = Date.parse(rollout.progressedAt) > now
  return rollout.state === 'progressing' && (waited || ahead)
    ? { ...rollout, progressedAt: timeOf(now) }
    : rollout
}

/** Assignments that are wished and whose machine is not known to be lost. */
function standing({ placed, facts, count }: RolloutContext): Assignment[] {
  return placed.assignments.filter(({ id, nodeId, replica, desired }) => {
    if (desired !== 'running' || replica > count || facts.seen(id)?.gone === true) return false
    return isHeard(facts.dispositionOf(nodeId))
  })
}

/** The numbers that a replica of the target serves. */
function readyOf(context: RolloutContext, { templateHash }: RevisionTarget): Set<number> {
  const own = standing(context).filter((each) => each.templateHash === templateHash)
  return new Set(own.filter((each) => isServing(each, context.facts)).map(({ replica }) => replica))
}

/** A rollout that fails is paused, or goes back to what ran well; one that replaces nothing goes on trying. */
export function failRollout(context: RolloutContext, rollout: Rollout): Rollout {
  const { wished, placed } = context
  if (rollout.state !== 'progressing' || !rollout.replaces || wished.target === undefined) return rollout
  const failure = failedReplica(context, rollout) ?? overdueReplica(context, rollout)
  if (failure === undefined) return rollout
  const { lastGood } = placed
  const back = wished.update.failureAction === 'rollback' && lastGood !== undefined
  const state = back && lastGood.templateHash !== rollout.templateHash ? 'rolling_back' : 'paused'
  return { ...rollout, state, failure: { ...failure, at: timeOf(context.now) } }
}

type Found = Omit<NonNullable<Rollout['failure']>, 'at'>

function failedReplica(context: RolloutContext, rollout: Rollout): Found | undefined {
  for (const each of standing(context)) {
    const { templateHash, revision, replica, nodeId } = each
    if (templateHash !== rollout.templateHash || revision < rollout.since) continue
    const reason = failureOf(each, context.facts)
    if (reason !== undefined) return { reason, replica, nodeId }
  }
  return undefined
}

/** The lowest number that is not ready, once too long nothing has become ready. Waiting at a gate costs no time. */
function overdueReplica(context: RolloutContext, rollout: Rollout): Found | undefined {
  const { wished, facts, count, now } = context
  if (wished.gated || now < deadlineOf(context, rollout)) return undefined
  const ready = readyOf(context, rollout)
  for (let replica = 1; replica <= count; replica += 1) {
    if (ready.has(replica)) continue
    const own = standing(context).find(
      (each) => each.replica === replica && each.templateHash === rollout.templateHash,
    )
    if (own === undefined) return { reason: 'unschedulable', replica }
    return { reason: facts.seen(own.id)?.reason || 'progress_deadline', replica, nodeId: own.nodeId }
  }
  return undefined
}

interface Advanced {
  readonly rollout: Rollout | undefined
  readonly lastGood: RevisionTarget | undefined
}

/** Another replica is ready: its time is noted. All are, and the watch is over: the revision is good. */
export function advanceRollout(
  context: RolloutContext,
  rollout: Rollout | undefined,
  { forcedByQuota, kept }: Pick<ReplicaPlan, 'forcedByQuota' | 'kept'>,
): Advanced {
  const { placed, wished, count, now } = context
  const lastGood = lastGoodOf(placed.lastGood, wished.target)
  if (rollout?.state !== 'progressing' || wished.target === undefined) return { rollout, lastGood }
  const told = forcedByQuota.length > 0 && rollout.quotaReached !== true
  const noted = told ? { ...rollout, quotaReached: true } : rollout
  const ready = readyOf(context, rollout).size
  // NOTE where nothing is replaced, only the last one counts: no write for each replica of a new deployment.
  if (ready > rollout.ready && (rollout.replaces || ready === count))
    return { rollout: { ...noted, ready, progressedAt: timeOf(now) }, lastGood }
  const { revision, templateHash } = rollout
  const old = kept.some((each) => each.desired === 'running' && each.templateHash !== templateHash)
  if (old || ready < count || now < endOfWatch(context, rollout)) return { rollout: noted, lastGood }
  return { rollout: undefined, lastGood: { revision, templateHash } }
}

/** A later revision of the same template is as good. */
function lastGoodOf(lastGood: RevisionTarget | undefined, target: RevisionTarget | undefined) {
  const later = lastGood?.templateHash === target?.templateHash && lastGood?.revision !== target?.revision
  return later && target !== undefined ? target : lastGood
}

function endOfWatch({ wished: { update } }: RolloutContext, { progressedAt }: Rollout): number {
  return Date.parse(progressedAt) + Math.min(update.watchMs, update.progressDeadlineMs)
}

export function endsAt(context: RolloutContext, rollout: Rollout): number | undefined {
  if (rollout.state !== 'progressing' || context.wished.target === undefined) return undefined
  if (readyOf(context, rollout).size === context.count) return endOfWatch(context, rollout)
  return rollout.replaces ? deadlineOf(context, rollout) : undefined
}

function deadlineOf({ wished: { update }, placed }: RolloutContext, { progressedAt }: Rollout): number {
  return Math.max(Date.parse(progressedAt) + update.progressDeadlineMs, placed.listensUntil ?? 0)
}

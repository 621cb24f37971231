// Events for the steps of a rollout: what changes, which replica went where and how long the step took, and which
// replicas were displaced. A plan and its events are written in the same transaction.

import type { Assignment, Json, RevisionTarget, Rollout } from '@holdfast/contract'
import { isCanaryReplica } from '../../canary/split-assignments.ts'
import { containerTemplate } from '../../node/container-template.ts'
import { isStateful, updateRulesOf } from '../../rollout/plan-rollout-rules.ts'
import { desiredReplicas } from '../../scaling/desired-replicas.ts'
import type { PlacementPlan } from '../placement-plan.ts'
import { changedParts } from './changed-parts.ts'
import { displacedEvents } from './displaced-events.ts'
import { type EventDraft, MOST_NAMED, type NodeName, replicasText } from './event-texts.ts'
import { rolloutFailedEvents } from './rollout-failed-events.ts'
import { uncreatedEvents } from './uncreated-events.ts'

export function rolloutEvents(plan: PlacementPlan, nodeName: NodeName): EventDraft[] {
  return [
    ...rolloutFailedEvents(plan, nodeName),
    ...startedEvents(plan),
    ...nodeLostEvents(plan, nodeName),
    ...displacedEvents(plan, nodeName),
    ...uncreatedEvents(plan, nodeName),
    ...quotaReachedEvents(plan),
    ...stepEvents(plan, nodeName),
  ]
}

const isStarting = ({ before, next }: PlacementPlan): boolean =>
  next?.rollout?.replaces === true && before?.rollout?.startedAt !== next.rollout.startedAt

function startedEvents(plan: PlacementPlan): EventDraft[] {
  const { before, next, deployment, unmet } = plan
  const { rollout } = next ?? {}
  if (rollout === undefined || !isStarting(plan) || unmet.length > 0) return []
  const { parallelism } = updateRulesOf(deployment.spec)
  const from = runningTarget(plan)?.revision ?? before?.ranRevision ?? before?.rollout?.revision
  const changed = changedBy(plan, rollout)
  const count = desiredReplicas(deployment)
  const start = `Revision ${rollout.revision} replaces revision ${from ?? '?'} on ${replicasText(count)}.${changedText(changed)}`
  return [
    {
      type: 'deployment.progressing',
      severity: 'info',
      reason: 'rollout_started',
      message: `${start}${supersededText(plan, rollout)} ${orderText(plan)}`,
      data: {
        from: from ?? null,
        to: rollout.revision,
        changed: changed ?? [],
        order: orderOf(plan),
        parallelism,
        replicas: count,
      },
    },
  ]
}

/**
 * The effective update order: stop-first for a deployment with a read-write mount, which two replicas never share;
 * otherwise the order in the spec.
 */
const orderOf = ({ deployment: { spec } }: PlacementPlan) =>
  isStateful(spec) ? 'stop-first' : updateRulesOf(spec).order

function orderText(plan: PlacementPlan): string {
  const { next, deployment } = plan
  const { parallelism, failureAction, progressDeadlineMs } = updateRulesOf(deployment.spec)
  const atOnce = parallelism === 1 ? 'One replica at a time' : `${parallelism} replicas at a time`
  const order =
    orderOf(plan) === 'start-first'
      ? 'the old one is removed once the new one is ready'
      : 'the old one is stopped before the new one starts'
  const end = failureAction === 'rollback' && next?.lastGood !== undefined ? 'rolled back' : 'paused'
  return `${atOnce}: ${order}. If a replica exits three times, becomes unhealthy or is not ready within ${progressDeadlineMs / 1000} s, the update is ${end}.`
}

/**
 * The revision whose replicas run before the update: the last good one, unless another revision has replaced all of its
 * replicas and was not watched to the end.
 */
function runningTarget({ before }: PlacementPlan): RevisionTarget | undefined {
  const { lastGood, rollout, assignments = [] } = before ?? {}
  const running = assignments.filter(({ desired }) => desired === 'running')
  const runs = (target: RevisionTarget | undefined) =>
    running.some(({ templateHash }) => templateHash === target?.templateHash)
  return [lastGood, rollout].find(runs) ?? lastGood
}

/** A sentence about an update in progress that this one ends. */
function supersededText(plan: PlacementPlan, { templateHash }: Rollout): string {
  const { rollout: former, lastGood } = plan.before ?? {}
  if (former?.state !== 'progressing' || former.templateHash === templateHash) return ''
  if (former.watchedSince === undefined || runningTarget(plan)?.templateHash !== former.templateHash)
    return ` The rollout of revision ${former.revision} is abandoned.`
  const back = lastGood === undefined ? '' : `, so a rollback returns to revision ${lastGood.revision}`
  return ` The watch window of revision ${former.revision} was not over${back}.`
}

/** The names of the changed parts of the container template, if both templates are known. */
function changedBy(plan: PlacementPlan, { templateHash }: Rollout): string[] | undefined {
  const {
    before,
    deployment: { spec, digest, pins },
  } = plan
  const other = before?.assignments.find((each) => each.templateHash !== templateHash)?.templateHash
  const former = runningTarget(plan)?.templateHash
  const old = before?.templates[(former === templateHash ? other : former) ?? other ?? '']
  const current = digest === null ? undefined : containerTemplate(spec, digest, pins)
  return old === undefined || current === undefined ? undefined : changedParts(old, current)
}

function changedText(parts: readonly string[] | undefined): string {
  if (parts === undefined) return ''
  return parts.length === 0 ? ' Restart requested.' : ` Changed: ${parts.join(', ')}.`
}

const wasRunning = ({ before }: PlacementPlan, id: string): boolean =>
  before?.assignments.some((each) => each.id === id && each.desired === 'running') === true

/** The assignments that this plan stops although their replica number is still desired. */
function stoppedBy(plan: PlacementPlan): Assignment[] {
  const { kept, deployment } = plan
  const count = desiredReplicas(deployment)
  return kept.filter(
    ({ id, desired, replica }) => desired === 'removed' && replica <= count && wasRunning(plan, id),
  )
}

const successorOf = ({ kept, added }: PlacementPlan, { replica }: Assignment): Assignment | undefined =>
  [...kept, ...added].find((each) => each.replica === replica && each.desired === 'running')

function nodeLostEvents(plan: PlacementPlan, nodeName: NodeName): EventDraft[] {
  const lost = stoppedBy(plan).filter(({ nodeId }) => plan.lostNodes.has(nodeId))
  const nodes = [...new Set(lost.map(({ nodeId }) => nodeId))]
  return nodes.map((nodeId) => {
    const own = lost.filter((each) => each.nodeId === nodeId)
    const moves = own.map((each) => {
      const to = successorOf(plan, each)
      return { replica: each.replica, to: to === undefined ? null : nodeName(to.nodeId) }
    })
    const where = moves.map(({ replica, to }) => `replica ${replica} is replaced on ${to}`).join(', ')
    return {
      type: 'deployment.displaced',
      severity: 'warning',
      reason: 'node_lost',
      message: `Node ${nodeName(nodeId)} is lost: ${where}. Its containers may still run until the node returns and its agent removes them.`,
      data: { nodeId, nodeName: nodeName(nodeId), replicas: moves },
    }
  })
}

function isReportedAsDisplaced(plan: PlacementPlan, each: Assignment): boolean {
  if (plan.lostNodes.has(each.nodeId) || plan.uncreated.leaving.has(each.id)) return true
  return plan.displacement.refusals.has(each.nodeId) && successorOf(plan, each) === undefined
}

function stepEvents(plan: PlacementPlan, nodeName: NodeName): EventDraft[] {
  const stopped = stoppedBy(plan).filter((each) => !isReportedAsDisplaced(plan, each))
  const texts = stopped.map((each) => stepText(plan, each, nodeName))
  const ready = plan.next?.rollout?.ready ?? 0
  const grew = plan.next?.rollout?.replaces === true && ready > (plan.before?.rollout?.ready ?? 0)
  if (texts.length === 0 && !(grew && !isStarting(plan))) return []
  const more = texts.length > MOST_NAMED ? [`${texts.length - MOST_NAMED} more likewise.`] : []
  const data: { [key: string]: Json } = {
    replicas: stopped.map(({ replica, nodeId }) => ({ replica, leaves: nodeName(nodeId) })),
  }
  return [
    {
      type: 'deployment.progressing',
      severity: 'info',
      reason: 'rollout_step',
      message: [...texts.slice(0, MOST_NAMED), ...more, ...progressText(plan)].join(' '),
      data,
    },
  ]
}

function stepText(plan: PlacementPlan, old: Assignment, nodeName: NodeName): string {
  const { ready, kept, rollout, now } = plan
  const successor = successorOf(plan, old)
  const source = isCanaryReplica(old) ? 'the canary' : `revision ${old.revision}`
  const oldText = `the replica of ${source} on ${nodeName(old.nodeId)}`
  if (successor === undefined && rollout.forcedByQuota.includes(old.replica))
    return `Replica ${old.replica}: the quota of containers is reached, so ${oldText} is stopped first.`
  if (successor === undefined && ready.has(old.id))
    return `Replica ${old.replica}: ${oldText} is stopped first.`
  // Assignments in `kept` are in the order of their creation, so a successor comes after the replica it replaces.
  const isReplaced =
    successor !== undefined && ready.has(successor.id) && kept.indexOf(successor) >= kept.indexOf(old)
  if (!isReplaced)
    return `Replica ${old.replica}: ${oldText} ${hasFailed(plan, old) ? 'has failed' : 'is no longer needed'} and is removed.`
  const seconds = ((Date.parse(now) - Date.parse(successor.assignedAt)) / 1000).toFixed(1)
  return `Replica ${old.replica} of revision ${successor.revision} is ready on ${nodeName(successor.nodeId)} after ${seconds} s; ${oldText} is removed.`
}

function hasFailed({ next }: PlacementPlan, { replica, nodeId, templateHash }: Assignment): boolean {
  const { rollout } = next ?? {}
  const { failure } = rollout ?? {}
  return rollout?.templateHash === templateHash && failure?.replica === replica && failure.nodeId === nodeId
}

function progressText({ next, deployment, ready }: PlacementPlan): string[] {
  const { rollout, lastGood, assignments = [] } = next ?? {}
  if (rollout?.replaces !== true || rollout.state === 'paused') return []
  const isRollback = rollout.state === 'rolling_back'
  const aim = isRollback ? lastGood : rollout
  const running = assignments.filter(({ desired }) => desired === 'running')
  const own = running.filter(({ id, templateHash }) => templateHash === aim?.templateHash && ready.has(id))
  const count = new Set(own.map(({ replica }) => replica)).size
  const desired = desiredReplicas(deployment)
  const isComplete = isRollback && count >= desired && running.length === own.length
  const end = isComplete ? ': the rollback is complete' : ''
  const verb = count === 1 ? 'is' : 'are'
  return [`${count} of ${desired} replicas of revision ${aim?.revision} ${verb} ready${end}.`]
}

/**
 * Reports that the quota is reached: once for each rollout, and whenever the quota becomes the reason why a replica has
 * no node.
 */
function quotaReachedEvents({ before, next, rollout, deployment }: PlacementPlan): EventDraft[] {
  const isFirst = next?.rollout?.quotaReached === true && before?.rollout?.quotaReached !== true
  const isShort = next?.shortfall?.reason === 'quota_reached'
  const becameShort = isShort && before?.shortfall?.reason !== 'quota_reached'
  const isForced = rollout.forcedByQuota.length > 0 && next?.rollout === undefined
  if (!isFirst && !becameShort && !isForced) return []
  const { name } = deployment.spec
  const effect = becameShort
    ? `a replica of ${name} cannot be created.`
    : `no successor can start beside an old replica of ${name}, so the old one is stopped first.`
  return [
    {
      type: 'quota.reached',
      severity: 'warning',
      reason: 'quota_reached',
      message: `The tenant's quota of containers is reached: ${effect} Raise the quota, or stop other containers.`,
      data: { kind: 'containers', replicas: [...rollout.forcedByQuota] },
    },
  ]
}

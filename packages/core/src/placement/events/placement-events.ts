// The events of a placement plan: where replicas were placed, why a replica has no node, with every candidate and its
// refusals, and the new phase of the deployment. The id of an event is derived from the state that the decision is based
// on, so a plan that is written twice is reported once. See docs/design/events.md#events

import type { DeploymentStatus, EventType, Json } from '@holdfast/contract'
import { stableAssignments } from '../../canary/split-assignments.ts'
import { DEPENDENCY_UNHEALTHY } from '../../rollout/derive-status.ts'
import { updateRulesOf } from '../../rollout/plan-rollout-rules.ts'
import type { PlacementEvent, PlacementPlan } from '../placement-plan.ts'
import { canaryEvents } from './canary-events.ts'
import { MOST_NAMED, type NodeName, refusalData, replicasAre, secondsSince } from './event-texts.ts'
import { rolloutEvents } from './rollout-events.ts'
import { isFailing } from './rollout-failed-events.ts'
import { secretEvents } from './secret-events.ts'

export function placementEvents(plan: PlacementPlan, nodeName: NodeName): PlacementEvent[] {
  const subject = subjectOf(plan)
  const rollout = rolloutEvents(plan, nodeName).map((each) => ({
    ...each,
    subject,
    cause: `${plan.placementRevision}/${each.reason}/${each.type === 'deployment.displaced' ? each.message : ''}`,
  }))
  const secrets = secretEvents(plan).map((each) => ({ ...each, subject }))
  return [
    ...rollout,
    ...scheduledEvents(plan, nodeName),
    ...refusalEvents(plan),
    ...phaseEvents(plan),
    ...secrets,
    ...canaryEvents(plan, nodeName).map((each) => ({ ...each, subject })),
  ]
}

function subjectOf({ deployment }: PlacementPlan): PlacementEvent['subject'] {
  return { kind: 'Deployment', name: deployment.spec.name, uid: deployment.uid }
}

function scheduledEvents(plan: PlacementPlan, nodeName: NodeName): PlacementEvent[] {
  const { added, deployment } = plan
  if (added.length === 0) return []
  const replicas = added.map(({ replica, nodeId }) => ({ replica, nodeId, nodeName: nodeName(nodeId) }))
  return [
    {
      type: 'deployment.scheduled',
      severity: 'info',
      subject: subjectOf(plan),
      cause: String(plan.placementRevision),
      reason: 'scheduled',
      message:
        added.length > MOST_NAMED
          ? `${replicasAre(added.length)} started on ${namesOf(replicas)}.`
          : startedText(plan, nodeName),
      data: { revision: added[0]?.revision ?? deployment.revision, replicas },
    },
  ]
}

/** For each new replica: its node, the old replica, and whether the old replica serves until the new replica is ready. */
function startedText({ added, kept, rollout, ready }: PlacementPlan, nodeName: NodeName): string {
  const texts = added.map(({ replica, nodeId, revision, canary = false }) => {
    if (canary) return `Replica ${replica} of the canary is started on ${nodeName(nodeId)}.`
    const others = stableAssignments([...kept, ...rollout.dropped]).filter((each) => each.replica === replica)
    const serving = others.find(({ id, desired }) => desired === 'running' && ready.has(id))
    const old = serving ?? others[0]
    const started = `Replica ${replica} of revision ${revision} is started on ${nodeName(nodeId)}`
    if (old === undefined) return `${started}.`
    const oldText = `the replica of revision ${old.revision} on ${nodeName(old.nodeId)}`
    return old === serving
      ? `${started}; ${oldText} serves until it is ready.`
      : `${started} and replaces ${oldText}.`
  })
  return texts.join(' ')
}

function namesOf(replicas: readonly { readonly nodeName: string }[]): string {
  const names = [...new Set(replicas.map(({ nodeName }) => nodeName))]
  const more = names.length - MOST_NAMED
  if (more <= 0) return names.join(', ')
  return `${names.slice(0, MOST_NAMED).join(', ')} and ${more} more ${more === 1 ? 'node' : 'nodes'}`
}

/**
 * Events for replicas that no node accepts. Equal refusals are reported once: as `unschedulable` if no replica was ever
 * assigned, otherwise as `stalled`.
 */
function refusalEvents(plan: PlacementPlan): PlacementEvent[] {
  const { refused, before, next, placementRevision } = plan
  if (refused === undefined || next === undefined || before?.reportedRefusals === next.reportedRefusals)
    return []
  const type: EventType = next.everAssigned ? 'deployment.stalled' : 'deployment.unschedulable'
  return [
    {
      type,
      severity: 'warning',
      subject: subjectOf(plan),
      cause: `${placementRevision}/${next.reportedRefusals}`,
      reason: next.shortfall?.reason ?? 'unschedulable',
      message: refused.summary,
      data: refusalData(refused),
    },
  ]
}

const EVENT_OF_PHASE: { readonly [phase in DeploymentStatus['phase']]?: EventType } = {
  Waiting: 'deployment.progressing',
  Progressing: 'deployment.progressing',
  Running: 'deployment.running',
  Degraded: 'deployment.degraded',
  Stopped: 'deployment.stopped',
}

/** Whether the nodes' last reported refusal of a replica is over although no replica was placed. */
function isRefusalOver({ before, next, added }: PlacementPlan): boolean {
  return (before?.reportedRefusals ?? '') !== '' && next?.reportedRefusals === '' && added.length === 0
}

function phaseEvents(plan: PlacementPlan): PlacementEvent[] {
  const { status, deployment, placementRevision } = plan
  const type = EVENT_OF_PHASE[status.phase]
  if (type === undefined || !isPhaseReported(plan)) return []
  return [
    {
      type,
      severity: status.phase === 'Degraded' ? 'warning' : 'info',
      subject: subjectOf(plan),
      cause: String(placementRevision),
      reason: status.reason || status.phase.toLowerCase(),
      message: status.message + durationText(plan),
      data: { revision: deployment.revision, replicas: { ...status.replicas }, ...causeOf(plan) },
    },
  ]
}

/** The first replica whose container fails, and why; only for a degraded deployment. */
function causeOf({ status, failing: [first] }: PlacementPlan): { [key: string]: Json } {
  return status.phase === 'Degraded' && first !== undefined
    ? { replica: first.replica, cause: first.cause }
    : {}
}

function isPhaseReported(plan: PlacementPlan): boolean {
  const { before, next, status } = plan
  const isOver = isRefusalOver(plan)
  const isNew = before?.reportedPhase !== status.phase || isOver
  if (next === undefined || !isNew || isFailing(plan)) return false
  // Before the deployment runs for the first time, and during the steps of a rollout, other events report the progress.
  const isCovered = before?.ranRevision === undefined || next.rollout?.replaces === true
  if (status.phase === 'Progressing' && isCovered && !isOver) return false
  // For a deployment that waits for a node, another event reports the matrix of all nodes.
  return status.phase !== 'Waiting' || status.reason === DEPENDENCY_UNHEALTHY
}

/**
 * A sentence about the duration of a rollout, for the event of the plan that ends the last step. Empty for other events,
 * such as one for a replica that returns later.
 */
function durationText({ before, next, status, deployment, now }: PlacementPlan): string {
  const { rollout } = next ?? {}
  if (status.phase !== 'Running' || rollout?.replaces !== true) return ''
  const isLast = before?.rollout?.startedAt === rollout.startedAt && before.rollout.ready < rollout.ready
  if (!isLast) return ''
  const { watchMs, progressDeadlineMs, failureAction } = updateRulesOf(deployment.spec)
  const watchedMs = Date.parse(now) - Date.parse(rollout.watchedSince ?? now)
  const watch = Math.ceil((Math.min(watchMs, progressDeadlineMs) - watchedMs) / 1000)
  const end = failureAction === 'rollback' && next?.lastGood !== undefined ? 'rolled back' : 'paused'
  return ` Revision ${rollout.revision} was rolled out in ${secondsSince(rollout, Date.parse(now))} s. It is watched for another ${watch} s; if a replica fails in that time, the update is ${end}.`
}

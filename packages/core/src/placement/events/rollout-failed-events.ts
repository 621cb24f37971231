// Events for a failed revision: which replica failed and why, what happens to the rollout, and what an operator can do.

import type { DeploymentSpec, EventType, Json, Rollout } from '@holdfast/contract'
import { NOT_STARTED } from '../../node/observe-replica.ts'
import { failureText } from '../../rollout/derive-status.ts'
import { updateRulesOf } from '../../rollout/plan-rollout-rules.ts'
import { desiredReplicas } from '../../scaling/desired-replicas.ts'
import type { PlacementPlan } from '../placement-plan.ts'
import { type EventDraft, type NodeName, replicasText, secondsSince } from './event-texts.ts'

type Failure = NonNullable<Rollout['failure']>

/**
 * Whether the plan is the first that detects the failure of its update. The event for the failure then reports the
 * changed phase of the deployment as well.
 */
export const isFailing = ({ before, next }: Pick<PlacementPlan, 'before' | 'next'>): boolean =>
  next?.rollout?.failure !== undefined && before?.rollout?.failure?.at !== next.rollout.failure.at

interface Outcome {
  readonly type: EventType
  /** Undefined if the reason of the failure is the reason of the event. */
  readonly reason?: string
  text(plan: PlacementPlan, rollout: Rollout): string
  advice(plan: PlacementPlan, failure: Failure): string
}

/** The outcome of a failure by the state of the rollout. Only a first rollout keeps its state and is retried. */
const OUTCOMES: { readonly [state in Rollout['state']]: Outcome } = {
  rolling_back: {
    type: 'deployment.rolled_back',
    reason: 'rollback',
    text: rolledBackText,
    advice: afterRollback,
  },
  paused: { type: 'deployment.stalled', reason: 'update_paused', text: pausedText, advice: afterPause },
  progressing: { type: 'deployment.failed', text: () => RETRIED, advice: afterFirst },
}

const RETRIED = 'There is no earlier revision to return to, so its containers are kept and retried.'

export function rolloutFailedEvents(plan: PlacementPlan, nodeName: NodeName): EventDraft[] {
  const { rollout } = plan.next ?? {}
  if (rollout?.failure === undefined || !isFailing(plan)) return []
  const { failure } = rollout
  const { type, reason = failure.reason, text, advice } = OUTCOMES[rollout.state]
  const message = [
    failedText(plan, rollout, failure, nodeName),
    text(plan, rollout),
    advice(plan, failure),
  ].join(' ')
  return [{ type, severity: 'error', reason, message, data: failureData(plan, rollout, failure, nodeName) }]
}

function failureData(
  { next }: PlacementPlan,
  { revision, ready, state }: Rollout,
  { reason, replica, nodeId, cause }: Failure,
  nodeName: NodeName,
): { [key: string]: Json } {
  return {
    revision,
    replica,
    failure: reason,
    ready,
    ...(cause === undefined ? {} : { cause }),
    ...(nodeId === undefined ? {} : { nodeId, nodeName: nodeName(nodeId) }),
    ...(state === 'rolling_back' ? { to: next?.lastGood?.revision ?? null } : {}),
  }
}

function failedText(
  { deployment: { spec } }: PlacementPlan,
  rollout: Rollout,
  failure: Failure,
  nodeName: NodeName,
): string {
  const { replica, nodeId, at, cause } = failure
  const where = nodeId === undefined ? '' : ` on ${nodeName(nodeId)}`
  const took = secondsSince(rollout, Date.parse(at))
  const text = `Revision ${rollout.revision} failed after ${took} s: replica ${replica}${where} ${causeText(spec, rollout, failure)}.`
  return cause === undefined ? text : `${text} Cause: ${cause}.`
}

function causeText(spec: DeploymentSpec, { progressedAt }: Rollout, { reason, at }: Failure): string {
  const { progressDeadlineMs } = updateRulesOf(spec)
  const inTime = `within ${progressDeadlineMs / 1000} s`
  const overdue = Date.parse(at) - Date.parse(progressedAt) >= progressDeadlineMs
  if (reason === 'image_pull_failed') return `could not pull ${spec.image} ${inTime}`
  if (reason === 'secret_unresolved') return `did not get its secrets ${inTime}`
  if (reason === 'unhealthy') return `became unhealthy: its health check failed${timesText(spec)}`
  if (reason === 'exited' && overdue) return `exited and was not ready ${inTime}`
  return reason === 'progress_deadline' ? `was not ready ${inTime}` : failureText(reason)
}

/** How often the health check failed, in words; empty if the spec does not state the number of retries. */
function timesText({ healthCheck }: DeploymentSpec): string {
  return healthCheck?.retries === undefined ? '' : ` ${healthCheck.retries} times in a row`
}

function rolledBackText(plan: PlacementPlan, { ready, revision }: Rollout): string {
  const { next, deployment } = plan
  const lastGood = next?.lastGood?.revision
  const good = isLastGoodServing(plan) ? ', which still serves.' : '; its containers are created again.'
  const outcome =
    ready === 0
      ? `The replicas return to revision ${lastGood}, the last good one${good}`
      : `${ready} of ${replicasText(desiredReplicas(deployment))} ran it. They return to revision ${lastGood}, the last good one, by the rules of any update.`
  return `${outcome} Revision ${revision} stays stored and is not tried again.`
}

/** Whether a replica of the last good revision serves. A revision that was not watched to the end may have replaced all. */
const isLastGoodServing = ({ before, next, ready }: PlacementPlan): boolean =>
  before?.assignments.some(
    ({ id, templateHash }) => templateHash === next?.lastGood?.templateHash && ready.has(id),
  ) === true

function pausedText({ deployment }: PlacementPlan, { ready }: Rollout): string {
  const { failureAction } = updateRulesOf(deployment.spec)
  const why =
    failureAction === 'rollback' ? 'There is no earlier good revision, so a rollback is not possible. ' : ''
  return `${why}The update is paused with ${ready} of ${replicasText(desiredReplicas(deployment))} replaced; the failed container stays for inspection.`
}

/** Advice to an operator after a rollback, which has removed the failed container. */
function afterRollback({ next, deployment: { spec } }: PlacementPlan, { reason }: Failure): string {
  const { name } = spec
  const keep = `or keep revision ${next?.lastGood?.revision} with \`holdfast rollout undo ${name} --to-revision ${next?.lastGood?.revision}\``
  if (reason === 'image_pull_failed') return `${pullText(name)}, ${keep}.`
  if (reason === 'secret_unresolved') return `${secretsText(name)}, ${keep}.`
  if (reason === 'unschedulable') return `Correct the spec and apply it again, ${keep}.`
  return `Correct the spec and apply it again, ${keep}. \`holdfast logs ${name} --previous\` shows the last lines of the failed container, for an hour.`
}

function afterPause({ deployment: { spec } }: PlacementPlan, { reason, replica }: Failure): string {
  const { name } = spec
  const undo = `or go back with \`holdfast rollout undo ${name}\``
  if (reason === 'image_pull_failed') return `${pullText(name)}, ${undo}.`
  if (reason === 'secret_unresolved') return `${secretsText(name)}, ${undo}.`
  const command = reason === 'unschedulable' ? `why ${name}` : `logs ${name} --replica ${replica}`
  return `Inspect it with \`holdfast ${command}\`, then apply a corrected spec, ${undo}.`
}

function afterFirst({ deployment: { spec } }: PlacementPlan, { reason, replica }: Failure): string {
  const { name } = spec
  if (reason === 'image_pull_failed') return `${pullText(name)}.`
  if (reason === 'secret_unresolved') return `${secretsText(name)}.`
  if (NOT_STARTED.has(reason)) return 'Apply a corrected spec.'
  return `Inspect it with \`holdfast logs ${name} --replica ${replica}\`, then apply a corrected spec.`
}

/** Advice for an image that could not be pulled: restart, because applying an unchanged spec would retry nothing. */
const pullText = (name: string): string =>
  `Check that the registry has the complete image and lets the node pull it, then run \`holdfast rollout restart ${name}\`; or apply a spec with another image`

const secretsText = (name: string): string =>
  `\`holdfast events --subject ${name}\` shows which secret and why; once that is fixed, run \`holdfast rollout restart ${name}\``

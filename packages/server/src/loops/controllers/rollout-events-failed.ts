// An update has failed: which replica and why, what is done about it, and what whoever reads it can do. DECISIONS 4 (update).

import type { DeploymentSpec, Json, Rollout } from '@holdfast/contract'
import { failureText, updateRulesOf } from '@holdfast/core'
import type { Decision } from './decision.ts'
import { type NodeName, replicasText, type Told } from './rollout-events-texts.ts'

type Failure = NonNullable<Rollout['failure']>

/** What a decision tells as a failure needs no word about the phase as well. */
export const isFailing = ({ before, next }: Decision): boolean =>
  next?.rollout?.failure !== undefined && before?.rollout?.failure?.at !== next.rollout.failure.at

export function failed(decision: Decision, nodeName: NodeName): Told[] {
  const { rollout, lastGood } = decision.next ?? {}
  if (rollout?.failure === undefined || !isFailing(decision)) return []
  const { failure } = rollout
  const { reason, replica, nodeId } = failure
  const back = rollout.state === 'rolling_back'
  const data: { [key: string]: Json } = {
    ...{ revision: rollout.revision, replica, failure: reason, ready: rollout.ready },
    ...(nodeId === undefined ? {} : { nodeId, nodeName: nodeName(nodeId) }),
    ...(back ? { to: lastGood?.revision ?? null } : {}),
  }
  return [
    {
      type: back ? 'deployment.rolled_back' : 'deployment.stalled',
      severity: 'error',
      reason: back ? 'rollback' : 'update_paused',
      message: [
        whatFailed(decision, rollout, failure, nodeName),
        back ? takenBackText(decision, rollout) : pausedText(decision, rollout),
        back ? afterRollback(decision, failure) : afterPause(decision, failure),
      ].join(' '),
      data,
    },
  ]
}

function whatFailed(
  { stored: { spec } }: Decision,
  rollout: Rollout,
  failure: Failure,
  nodeName: NodeName,
): string {
  const { replica, nodeId, at } = failure
  const where = nodeId === undefined ? '' : ` on ${nodeName(nodeId)}`
  const took = ((Date.parse(at) - Date.parse(rollout.startedAt)) / 1000).toFixed(1)
  return `Revision ${rollout.revision} failed after ${took} s: replica ${replica}${where} ${causeText(spec, rollout, failure)}.`
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

/** Not known where the check is that of the image itself. */
function timesText({ healthCheck }: DeploymentSpec): string {
  return healthCheck?.retries === undefined ? '' : ` ${healthCheck.retries} times in a row`
}

function takenBackText({ next, stored: { spec } }: Decision, { ready, revision }: Rollout): string {
  const lastGood = next?.lastGood?.revision
  const touched =
    ready === 0
      ? `The replicas go back to revision ${lastGood}, which ran well and still serves.`
      : `${ready} of ${replicasText(spec.replicas)} ran it. They go back to revision ${lastGood}, which ran well, by the rules of any update.`
  return `${touched} Revision ${revision} stays stored and is not tried again.`
}

function pausedText({ stored: { spec } }: Decision, { ready }: Rollout): string {
  const { failureAction } = updateRulesOf(spec)
  const why =
    failureAction === 'rollback'
      ? 'No other revision is known to have run well, so there is no way back. '
      : ''
  return `${why}The update is paused with ${ready} of ${replicasText(spec.replicas)} replaced; the failed one stays to be looked at.`
}

/** The container that failed goes, and its logs with it. */
function afterRollback({ next, stored: { spec } }: Decision, { reason, replica }: Failure): string {
  const { name } = spec
  const keep = `or keep revision ${next?.lastGood?.revision} with \`holdfast rollout undo ${name} --to-revision ${next?.lastGood?.revision}\``
  if (reason === 'image_pull_failed') return `${pullText(name)}, ${keep}.`
  if (reason === 'secret_unresolved') return `${secretsText(name)}, ${keep}.`
  if (reason === 'unschedulable') return `Correct it and send it again, ${keep}.`
  return `Correct it and send it again, ${keep}. To see what it writes, send it with update.failureAction pause: the container then stays, and \`holdfast logs ${name} --replica ${replica}\` reads it.`
}

function afterPause({ stored: { spec } }: Decision, { reason, replica }: Failure): string {
  const { name } = spec
  const undo = `or go back with \`holdfast rollout undo ${name}\``
  if (reason === 'image_pull_failed') return `${pullText(name)}, ${undo}.`
  if (reason === 'secret_unresolved') return `${secretsText(name)}, ${undo}.`
  const look = reason === 'unschedulable' ? `why ${name}` : `logs ${name} --replica ${replica}`
  return `Look with \`holdfast ${look}\`, then send a corrected spec, ${undo}.`
}

/** The same spec sent again is no change, and would try nothing. */
const pullText = (name: string): string =>
  `Correct it: see that the registry has the whole image and lets the node have it, and run \`holdfast rollout restart ${name}\`; or send another image`

const secretsText = (name: string): string =>
  `\`holdfast events --subject ${name}\` says which secret and why; once that is mended, run \`holdfast rollout restart ${name}\``

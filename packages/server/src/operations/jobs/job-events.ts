// The events about a job.

import type { StoredJob } from '../../store/records.ts'
import type { NewEvent } from '../record-write.ts'

const subjectOf = ({ id, spec }: StoredJob) => ({ kind: 'Job', name: spec.name, uid: id })

export const jobCreatedEvent = (job: StoredJob): NewEvent => ({
  type: 'job.created',
  severity: 'info',
  subject: subjectOf(job),
  cause: 'created',
  reason: 'created',
  message: `Job ${job.spec.name} was created.`,
  data: { image: job.spec.image },
})

/** `isLost`: the container of an attempt on a lost node may still run. */
export function jobStartedEvent(job: StoredJob, isLost: boolean): NewEvent {
  const { attempts, nodeId, nodeName, spec } = job
  const which = attempts === 1 ? `Job ${spec.name}` : `Attempt ${attempts} of job ${spec.name}`
  const warning = isLost ? ' Its container on the lost node may still run.' : ''
  return {
    type: 'job.started',
    severity: isLost ? 'warning' : 'info',
    subject: subjectOf(job),
    cause: `attempt ${attempts}`,
    reason: isLost ? 'node_lost' : attempts === 1 ? 'started' : 'retried',
    message: `${which} was assigned to node ${nodeName}.${warning}`,
    data: { attempt: attempts, nodeId, nodeName },
  }
}

const HOW: { readonly [reason: string]: string } = {
  exited: 'its container ended',
  oom_killed: 'its container needed more memory than it may use',
  timed_out: 'its timeout ended',
  node_removed: 'its node was removed',
}

/** The event of a job that has ended. */
export function jobEndedEvent(job: StoredJob): NewEvent {
  const { phase, reason, attempts, nodeId, exitCode, spec } = job
  const common = {
    subject: subjectOf(job),
    cause: 'ended',
    data: { attempts, nodeId, exitCode },
  }
  const code = exitCode === null ? '' : ` with exit code ${exitCode}`
  if (phase === 'succeeded')
    return {
      ...common,
      type: 'job.succeeded',
      severity: 'info',
      reason: 'succeeded',
      message: `Job ${spec.name} succeeded.`,
    }
  if (phase === 'cancelled')
    return {
      ...common,
      type: 'job.cancelled',
      severity: 'info',
      reason: reason || 'cancelled',
      message: `Job ${spec.name} was cancelled.`,
    }
  const tries = attempts === 1 ? '' : ` after ${attempts} attempts`
  const message = `Job ${spec.name} failed${tries}: ${HOW[reason] ?? reason}${code}.`
  return { ...common, type: 'job.failed', severity: 'error', reason, message }
}

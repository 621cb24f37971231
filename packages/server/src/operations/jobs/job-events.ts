// The events about a job.

import type { StoredJob } from '../../store/records.ts'
import type { NewEvent } from '../record-write.ts'
import { attemptText, howItEnded } from './attempt-texts.ts'

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
  const { attempts, nodeId, nodeName, spec, previous } = job
  const which = attempts === 1 ? `Job ${spec.name}` : `Attempt ${attempts} of job ${spec.name}`
  const before = previous === undefined ? '' : ` ${attemptText(attempts - 1, previous)}.`
  const warning = isLost ? ' The container of an earlier attempt may still run on its lost node.' : ''
  return {
    type: 'job.started',
    severity: isLost ? 'warning' : 'info',
    subject: subjectOf(job),
    cause: `attempt ${attempts}`,
    reason: isLost ? 'node_lost' : attempts === 1 ? 'started' : 'retried',
    message: `${which} was assigned to node ${nodeName}.${before}${warning}`,
    data: {
      ...{ attempt: attempts, nodeId, nodeName },
      ...{ previousReason: previous?.reason ?? null, previousExitCode: previous?.exitCode ?? null },
    },
  }
}

/** The event of a job that has ended. */
export function jobEndedEvent(job: StoredJob): NewEvent {
  const { phase, reason, attempts, nodeId, exitCode, spec } = job
  const common = {
    subject: subjectOf(job),
    cause: 'ended',
    data: { attempts, nodeId, exitCode },
  }
  if (phase === 'succeeded')
    return {
      ...common,
      type: 'job.succeeded',
      severity: 'info',
      reason: 'succeeded',
      message: `Job ${spec.name} succeeded.`,
    }
  if (phase === 'cancelled') return { ...common, ...cancelledEvent(job) }
  const tries = attempts <= 1 ? '' : ` after ${attempts} attempts`
  const warning = reason === 'node_removed' ? ' The container may still run.' : ''
  const message = `Job ${spec.name} failed${tries}: ${howItEnded(job)}.${warning}`
  return { ...common, type: 'job.failed', severity: 'error', reason, message }
}

function cancelledEvent({ spec, reason }: StoredJob) {
  const isUnconfirmed = reason === 'unconfirmed'
  const warning = isUnconfirmed
    ? ' Its node was lost or removed before the end of its container was reported, so the container may still run.'
    : ''
  return {
    type: 'job.cancelled' as const,
    severity: isUnconfirmed ? ('warning' as const) : ('info' as const),
    reason: reason || 'cancelled',
    message: `Job ${spec.name} was cancelled.${warning}`,
  }
}

// A stored job as its tenant sees it. Everything is in its record, so a finished job needs no other record.

import type { JobRecord, JobStatus, TenantId } from '@holdfast/contract'
import { defined } from '@holdfast/contract'
import { residencyLabels } from '@holdfast/core'
import { nodes, type StoredJob } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant } from '../../store/transaction.ts'
import { attemptText } from './attempt-texts.ts'

export function jobView(store: Pick<Store, 'get'>, tenant: TenantId, job: StoredJob): JobRecord {
  const { id, spec, createdAt, revision } = job
  const labels = residencyLabels(spec.placement?.residency)
  return { id, ...spec, createdAt, revision, residencyLabels: labels, status: statusOf(store, tenant, job) }
}

function statusOf(store: Pick<Store, 'get'>, tenant: TenantId, job: StoredJob): JobStatus {
  const { phase, reason, nodeId, startedAt, finishedAt, exitCode, attempts, retryAt } = job
  const known = nodeId === null ? undefined : store.get(inTenant(tenant, nodes, nodeId))?.record.name
  return {
    ...{ phase, reason, message: messageOf(job), nodeId, nodeName: known ?? job.nodeName },
    ...{ startedAt, finishedAt, exitCode, attempts, ...defined({ retryAt }) },
    image: { reference: job.spec.image, digest: job.digest },
  }
}

const WAITING: { readonly [reason: string]: string } = {
  image_unresolved:
    'The image is not resolved yet: its registry does not answer or does not have it. The server keeps asking the registry. The job fails if the image is not resolved within its timeout or 15 minutes, whichever is longer.',
  stopping: 'The container of the previous attempt is being removed; the next attempt starts after that.',
  cancelling: 'The job was cancelled, and its container is being stopped.',
  timed_out: 'The timeout has ended, and the container is being stopped.',
  node_lost:
    'The node has failed, and the container may still run. The job waits until the node returns, or until it is removed by force.',
  image_pull_failed: 'The node cannot pull the image; it tries again.',
  secret_unresolved: 'A secret is not available; the job starts once it is.',
}

const ENDS: { readonly [reason: string]: string } = {
  image_unresolved:
    'The registry did not resolve the image in time. Check that the registry is reachable and has the image, then create the job again.',
  oom_killed: 'The container needed more memory than it may use; raise limits.memoryBytes.',
  timed_out: 'The attempt took longer than its timeout.',
  node_removed:
    'The node was removed before the end of the container was reported, so the container may still run.',
  container_lost:
    'The end of the container was not seen, so its exit code is unknown: another program removed the container, or its engine lost it or was away when it ended, as in a power cut. Check what the job has done before you run it again.',
  unconfirmed:
    'The job was cancelled. Its node was lost or removed before the end of its container was reported, so the container may still run.',
}

const NEVER_STARTED =
  'The container did not start within the timeout or 15 minutes, whichever is longer. Check that the node can pull the image and that all secrets are written.'

function messageOf(job: StoredJob): string {
  const { phase, reason, exitCode, finishedAt } = job
  if (finishedAt !== null) return endOf(job)
  if (job.unplaced !== '') return job.unplaced
  if (reason === 'backoff')
    return `${attemptText(job.attempts, job.previous ?? { reason: 'exited', exitCode })}. The next one may start at ${job.retryAt}.`
  if (reason === '') return phase === 'running' ? 'The container runs.' : 'The job waits for its container.'
  return WAITING[reason] ?? `The container does not run: ${reason}.`
}

function endOf({ phase, reason, exitCode, startedAt }: StoredJob): string {
  if (phase === 'succeeded') return 'The container ended with exit code 0.'
  if (reason === 'timed_out' && startedAt === null) return NEVER_STARTED
  if (ENDS[reason] !== undefined) return ENDS[reason]
  if (phase === 'cancelled') return 'The job was cancelled.'
  return exitCode === null ? `The job failed: ${reason}.` : `The container ended with exit code ${exitCode}.`
}

// DELETE /jobs/{id}: cancels a job that has not ended. The controller stops the container and reports the end. A job that
// has ended stays as it is: a repeated cancellation must not remove the record and log that retention keeps.

import { isFinalPhase, isJobId, type JobRecord, type TenantId } from '@holdfast/contract'
import { jobs, type StoredJob } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant, type Transaction } from '../../store/transaction.ts'
import { type Caller, done, type Outcome, refused } from '../caller.ts'
import type { DeploymentDeps } from '../deployments/deps.ts'
import { checkIfMatch, requireLiveCaller } from '../preconditions.ts'
import { recordAudit } from '../record-write.ts'
import { jobView } from './job-view.ts'
import { jobNotFound } from './read-jobs.ts'

export async function cancelJob(
  { store, clock }: Pick<DeploymentDeps, 'store' | 'clock'>,
  caller: Caller,
  id: string,
  ifMatch: string | undefined,
): Promise<Outcome<JobRecord>> {
  const { tenant } = caller
  return store.transact<Outcome<JobRecord>>((transaction) => {
    const found = findToCancel(transaction, caller, id, ifMatch)
    if (!found.ok) return { kind: 'abort', result: found }
    const job = found.value
    const cancelled = isFinalPhase(job.phase) ? job : markCancelled(job)
    const result = done(jobView(store, tenant, cancelled))
    if (cancelled === job) return { kind: 'abort', result }
    transaction.put(inTenant(tenant, jobs, job.id), cancelled)
    const subject = { kind: 'Job', name: job.spec.name }
    recordAudit(transaction, clock, caller, { action: 'jobs:cancel', subject, revision: cancelled.revision })
    return { kind: 'commit', result }
  })
}

function findToCancel(
  transaction: Transaction,
  caller: Caller,
  id: string,
  ifMatch: string | undefined,
): Outcome<StoredJob> {
  const gone = requireLiveCaller(transaction, caller)
  if (gone !== undefined) return refused(gone)
  const job = isJobId(id) ? transaction.get(inTenant(caller.tenant, jobs, id)) : undefined
  if (job === undefined) return jobNotFound(id)
  const conflict = checkIfMatch(ifMatch, job.revision)
  return conflict === undefined ? done(job) : refused(conflict)
}

const markCancelled = (job: StoredJob): StoredJob =>
  job.cancelled ? job : { ...job, cancelled: true, reason: 'cancelling', revision: job.revision + 1 }

/** Cancels all jobs of a tenant that is being deleted; the controller stops their containers. */
export async function cancelJobs(store: Store, tenant: TenantId): Promise<void> {
  for (const { record } of store.list(jobs, tenant)) {
    if (record.cancelled || isFinalPhase(record.phase)) continue
    await store.transact<void>((transaction) => {
      const address = inTenant(tenant, jobs, record.id)
      const job = transaction.get(address)
      if (job === undefined || job.cancelled || isFinalPhase(job.phase))
        return { kind: 'abort', result: undefined }
      transaction.put(address, markCancelled(job))
      return { kind: 'commit', result: undefined }
    })
  }
}

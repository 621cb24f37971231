// Reads jobs, and explains why a job has no node. Another tenant's job and a missing one get the same answer.

import { isJobId, type JobRecord, type TenantId, type Why } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import { explainPlacementInSteps } from '@holdfast/core/placement/explain-placement'
import { inSlices } from '../../lib/slices.ts'
import { timestamp } from '../../ports/clock.ts'
import { jobWorkload } from '../../scheduling/job-workload.ts'
import { jobs, type StoredJob } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant } from '../../store/transaction.ts'
import { done, type Outcome, type Refused, refused } from '../caller.ts'
import type { DeploymentDeps } from '../deployments/deps.ts'
import { pageCandidates } from '../deployments/read/why-pages.ts'
import { listPage, mapPage, type Page, type PageRequest } from '../page.ts'
import { jobView } from './job-view.ts'

export const jobNotFound = (id: string): Refused => refused(reject('job_not_found', 'id', id))

export function findJob(store: Pick<Store, 'get'>, tenant: TenantId, id: string): StoredJob | undefined {
  return isJobId(id) ? store.get(inTenant(tenant, jobs, id))?.record : undefined
}

export async function getJob(store: Store, tenant: TenantId, id: string): Promise<Outcome<JobRecord>> {
  await store.fresh()
  const found = findJob(store, tenant, id)
  return found === undefined ? jobNotFound(id) : done(jobView(store, tenant, found))
}

/** One page of the jobs, in the order of their ids, which is the order of creation. */
export async function listJobs(
  store: Store,
  tenant: TenantId,
  request: PageRequest,
): Promise<Outcome<Page<JobRecord>>> {
  const stored = () => store.list(jobs, tenant).map(({ record }) => record)
  const page = await listPage(store, request, stored, ({ id }) => id)
  return mapPage(page, (job) => jobView(store, tenant, job))
}

/** Explains every node for a job that waits for one; for another job, only its status. */
export async function readJobWhy(
  deps: Pick<DeploymentDeps, 'store' | 'views' | 'clock' | 'residency'>,
  tenant: TenantId,
  id: string,
  query: PageRequest,
): Promise<Outcome<Why>> {
  const { store, clock } = deps
  await store.fresh()
  const job = findJob(store, tenant, id)
  if (job === undefined) return jobNotFound(id)
  const { status } = jobView(store, tenant, job)
  const answered = { decidedAt: timestamp(clock), phase: status.phase, summary: status.message, cure: [] }
  if (job.phase !== 'pending' || job.current !== undefined) return done({ ...answered, candidates: [] })
  const { scheduling } = await deps.views.of(tenant)
  const workload = jobWorkload(store, tenant, job, deps.residency)
  const explained = await inSlices(explainPlacementInSteps(scheduling, workload, 1))
  if (explained.unplaced === 0) return done({ ...answered, candidates: [] })
  const page = pageCandidates(explained, query)
  if (!page.ok) return page
  const { summary, cure } = explained
  return done({ ...answered, summary, cure: [...cure], ...page.value })
}

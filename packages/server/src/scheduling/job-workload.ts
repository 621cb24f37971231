// The workload of a job for the scheduler. Affinity rules name deployments only, so a job is counted under its owner.

import { JOBS, type Owner, ownerOf, type ResidencyRules, type TenantId } from '@holdfast/contract'
import { type Workload, workloadSpec } from '@holdfast/core'
import type { StoredJob } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { workloadOf } from './scheduling-facts.ts'

export function jobWorkload(
  store: Pick<Store, 'get'>,
  tenant: TenantId,
  { id, spec }: Pick<StoredJob, 'id' | 'spec'>,
  rules: ResidencyRules,
): Workload {
  return asJob(workloadOf(store, tenant, workloadSpec(spec), rules), ownerOf('job', id))
}

/** The workload of a job as it differs from that of a deployment with the same spec. */
export const asJob = (workload: Workload, owner: Owner): Workload => ({
  ...workload,
  name: owner,
  needs: [...workload.needs, JOBS],
})

// The workload of a job for the scheduler. Affinity rules name deployments only, so a job is counted under its owner.

import { JOBS, ownerOf, type ResidencyRules, type TenantId } from '@holdfast/contract'
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
  const workload = workloadOf(store, tenant, workloadSpec(spec), rules)
  return { ...workload, name: ownerOf('job', id), needs: [...workload.needs, JOBS] }
}

// Explains where replicas of a deployment, or the attempt of a job, would be placed now, and why not on other nodes. The
// tenant's facts for core's explainPlacement come from the cache (docs/design/placement.md#explanations).

import type { ResidencyRules, TenantId } from '@holdfast/contract'
import { explainPlacement, type PlacementExplanation } from '@holdfast/core/placement/explain-placement'
import type { Quotas } from '../../quotas/quotas.ts'
import { jobWorkload } from '../../scheduling/job-workload.ts'
import { gatherTenantFacts, workloadOf } from '../../scheduling/scheduling-facts.ts'
import type { StoredDeployment, StoredJob } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'

export interface PlacementDeps {
  readonly store: Pick<Store, 'get' | 'list'>
  readonly quotas: Pick<Quotas, 'limit'>
  readonly residency: ResidencyRules
}

/** `missing` is the number of replicas to place in addition to those that already have a node. */
export function explainTenantPlacement(
  { store, quotas, residency }: PlacementDeps,
  tenant: TenantId,
  spec: StoredDeployment['spec'],
  missing: number,
): PlacementExplanation {
  const facts = gatherTenantFacts(store, quotas, tenant)
  return explainPlacement(workloadOf(store, tenant, spec, residency), facts, missing)
}

/** Explains where the first attempt of a new job would be placed. */
export function explainJobPlacement(
  { store, quotas, residency }: PlacementDeps,
  tenant: TenantId,
  job: Pick<StoredJob, 'id' | 'spec'>,
): PlacementExplanation {
  const facts = gatherTenantFacts(store, quotas, tenant)
  return explainPlacement(jobWorkload(store, tenant, job, residency), facts, 1)
}

// Explains where replicas of a deployment, or the attempt of a job, would be placed now, and why not on other nodes. The
// tenant's facts for core's explainPlacement come from the cache (docs/design/placement.md#explanations).

import { ownerOf, type ResidencyRules, type TenantId } from '@holdfast/contract'
import { avoiding } from '@holdfast/core'
import { explainPlacement, type PlacementExplanation } from '@holdfast/core/placement/explain-placement'
import type { Clock } from '../../ports/clock.ts'
import type { Quotas } from '../../quotas/quotas.ts'
import { jobWorkload } from '../../scheduling/job-workload.ts'
import { gatherTenantFacts, workloadOf } from '../../scheduling/scheduling-facts.ts'
import type { StoredDeployment, StoredJob } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { placementAt } from '../../store/transaction.ts'

export interface PlacementDeps {
  readonly store: Pick<Store, 'get' | 'list'>
  readonly quotas: Pick<Quotas, 'limit'>
  readonly residency: ResidencyRules
  readonly clock: Clock
}

/** `missing` is the number of replicas to place in addition to those that already have a node. */
export function explainTenantPlacement(
  { store, quotas, residency, clock }: PlacementDeps,
  tenant: TenantId,
  { uid, spec }: Pick<StoredDeployment, 'uid' | 'spec'>,
  missing: number,
): PlacementExplanation {
  const facts = gatherTenantFacts(store, quotas, tenant)
  const { avoided } = store.get(placementAt(tenant, ownerOf('deployment', uid)))?.record ?? {}
  const workload = avoiding(workloadOf(store, tenant, spec, residency), avoided, clock.now())
  return explainPlacement(workload, facts, missing)
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

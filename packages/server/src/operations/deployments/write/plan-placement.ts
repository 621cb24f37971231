// Shows where replicas would be placed now and why not, with the filters and facts of the controllers. Nothing is reserved,
// so the answer may change a moment later.

import type { Candidate, ResidencyRules, TenantId } from '@holdfast/contract'
import { createSchedulingView, explainCandidates } from '@holdfast/core'
import type { Quotas } from '../../../quotas/quotas.ts'
import { gatherTenantFacts, workloadOf } from '../../../scheduling/scheduling-facts.ts'
import type { StoredDeployment } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'

export interface PlacementDeps {
  readonly store: Pick<Store, 'get' | 'list'>
  readonly quotas: Pick<Quotas, 'limit'>
  readonly residency: ResidencyRules
}

export interface PlacementPlan {
  readonly placed: readonly string[]
  readonly unplaced: number
  readonly summary: string
  readonly candidates: readonly Candidate[]
  readonly cure: readonly string[]
}

/** `missing` is the number of replicas to place in addition to the placed ones. */
export function planPlacement(
  { store, quotas, residency }: PlacementDeps,
  tenant: TenantId,
  spec: StoredDeployment['spec'],
  missing: number,
): PlacementPlan {
  const facts = gatherTenantFacts(store, quotas, tenant)
  const view = createSchedulingView(facts)
  const workload = workloadOf(store, tenant, spec, residency)
  const { placed, unplaced, candidates } = view.place(workload, missing)
  const names = new Map(facts.nodes.map(({ id, name }) => [id, name]))
  const explained = explainCandidates(unplaced > 0 ? candidates : view.candidates(workload))
  return {
    placed: placed.map((id) => names.get(id) ?? id),
    unplaced,
    summary: unplaced > 0 ? explained.summary : ALL_PLACED,
    candidates: explained.candidates,
    cure: unplaced > 0 ? explained.cure : [],
  }
}

const ALL_PLACED = 'Every replica has a node.'

// Explains where replicas of a deployment would be placed now, on the tenant's kept view. Equal questions about the same
// state are computed once. See docs/design/placement.md#explanations

import type { ResidencyRules, TenantId } from '@holdfast/contract'
import {
  explainPlacementInSteps,
  type PagedExplanation,
  type PlacementView,
} from '@holdfast/core/placement/explain-placement'
import { inSlices } from '../../../lib/slices.ts'
import { workloadOf } from '../../../scheduling/scheduling-facts.ts'
import type { StoredDeployment } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'

export interface KeptView {
  readonly scheduling: PlacementView
  /** Answers about the present state of the view, by question. The owner of the view clears them at each change. */
  readonly answers: Map<string, Promise<PagedExplanation>>
}

export interface PlacementViews {
  of(tenant: TenantId): Promise<KeptView>
}

export interface ExplainDeps {
  readonly store: Pick<Store, 'get'>
  readonly views: PlacementViews
  readonly residency: ResidencyRules
}

/** The most answers that are kept for one tenant. */
const MOST_ANSWERS = 4

/** `missing` is the number of replicas to place in addition to those that already have a node. */
export async function explainNow(
  { store, views, residency }: ExplainDeps,
  tenant: TenantId,
  { uid, revision, spec }: StoredDeployment,
  missing: number,
): Promise<PagedExplanation> {
  const { scheduling, answers } = await views.of(tenant)
  const question = `${uid}/${revision}/${missing}`
  const known = answers.get(question)
  if (known !== undefined) return known
  const workload = workloadOf(store, tenant, spec, residency)
  const answer = inSlices(explainPlacementInSteps(scheduling, workload, missing))
  answers.set(question, answer)
  for (const [oldest] of answers) if (answers.size > MOST_ANSWERS) answers.delete(oldest)
  answer.catch(() => answers.delete(question))
  return answer
}

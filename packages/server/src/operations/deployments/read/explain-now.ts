// Explains where replicas of a deployment would be placed now, on the tenant's kept view. Equal questions about the same
// state are computed once. See docs/design/placement.md#explanations

import type { TenantId } from '@holdfast/contract'
import type { Workload } from '@holdfast/core'
import {
  explainPlacementInSteps,
  type PagedExplanation,
  type PlacementView,
} from '@holdfast/core/placement/explain-placement'
import { inSlices } from '../../../lib/slices.ts'

export interface KeptView {
  readonly scheduling: PlacementView
  /** Answers about the present state of the view, by question. The owner of the view clears them at each change. */
  readonly answers: Map<string, Promise<PagedExplanation>>
}

export interface PlacementViews {
  of(tenant: TenantId): Promise<KeptView>
}

export interface ExplainDeps {
  readonly views: PlacementViews
}

/** Replicas to explain. The id is another one whenever their demands are others. */
interface ExplainedWorkload {
  readonly id: string
  readonly workload: Workload
}

/** Distinguishes questions about equal specs by the nodes that are avoided. */
export const keyOfAvoided = ({ avoids }: Workload): string =>
  avoids === undefined ? '' : `/${JSON.stringify(avoids)}`

/** The most answers that are kept for one tenant. */
const MOST_ANSWERS = 4

/** `missing` is the number of replicas to place in addition to those that already have a node. */
export async function explainNow(
  { views }: ExplainDeps,
  tenant: TenantId,
  { id, workload }: ExplainedWorkload,
  missing: number,
): Promise<PagedExplanation> {
  const { scheduling, answers } = await views.of(tenant)
  const question = `${id}/${missing}`
  const known = answers.get(question)
  if (known !== undefined) return known
  const answer = inSlices(explainPlacementInSteps(scheduling, workload, missing))
  answers.set(question, answer)
  for (const [oldest] of answers) if (answers.size > MOST_ANSWERS) answers.delete(oldest)
  answer.catch(() => answers.delete(question))
  return answer
}

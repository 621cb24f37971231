// GET /deployments/{name}/decisions: the times at which the explanation of a deployment changed, newest first.

import { type Decision, ownerOf, type TenantId } from '@holdfast/contract'
import { decisions, type StoredDecision } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import type { Outcome } from '../../caller.ts'
import type { TimeRange } from '../../events/time-range.ts'
import { listPage, type Page, type PageRequest, readPage } from '../../page.ts'
import { keptDecisions } from './decisions.ts'
import { findStored } from './find-deployment.ts'

export interface DecisionQuery extends PageRequest {
  readonly times: TimeRange
}

export async function listDecisions(
  store: Store,
  tenant: TenantId,
  path: string,
  query: DecisionQuery,
): Promise<Outcome<Page<Decision>>> {
  await store.fresh()
  const found = findStored(store, tenant, path)
  if (!found.ok) return found
  const { since = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY } = query.times
  const kept = () =>
    keptDecisions(store, tenant, ownerOf('deployment', found.value.uid)).filter(
      ({ at }) => at >= since && at <= until,
    )
  const page = await listPage(store, query, kept, ({ number }) => newestFirst(number))
  return readPage(page, (keys) => store.read(decisions, keys), decisionView)
}

const HIGHEST = 10 ** 12

/** Decisions are numbered in their order; a higher number must sort first. */
const newestFirst = (number: number): string => String(HIGHEST - number).padStart(13, '0')

function decisionView({ decidedAt, phase, reason, revision, summary }: StoredDecision): Decision {
  return { at: decidedAt, phase, reason, revision, summary }
}

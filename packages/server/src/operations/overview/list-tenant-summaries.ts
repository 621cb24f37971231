// GET /tenants?view=summary: what each tenant has, and which of them need a person, for platform administrators.

import { ATTENTION_SEVERITIES, type AttentionSeverity, type TenantSummary } from '@holdfast/contract'
import { reachedQuotas } from '@holdfast/core/attention/attention'
import { type StoredTenant, tenants } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import type { Outcome } from '../caller.ts'
import { listPage, mapPage, type Page } from '../page.ts'
import { isListed, type ListQuery, sortKey } from '../short-list.ts'
import { type AttentionDeps, gatherAttention } from './gather-attention.ts'

export async function listTenantSummaries(
  deps: AttentionDeps & { readonly store: Store },
  query: ListQuery,
): Promise<Outcome<Page<TenantSummary>>> {
  const { store } = deps
  const found = () =>
    store
      .list(tenants)
      .map(({ record }) => record)
      .filter(({ name }) => isListed({ name, phase: '' }, query))
  if (query.sort !== 'worst') {
    const page = await listPage(store, query, found, (record) => keyOf(record, 0, query))
    return mapPage(page, (record) => summaryOf(deps, record))
  }
  // The worst of all tenants are known only after all were looked at.
  const all = () => found().map((record) => summaryOf(deps, record))
  return listPage(store, query, all, (summary) => keyOf(summary, rankOfTenant(summary), query))
}

/** Names of tenants are unique, but a tenant that is being deleted may have released its name. */
const keyOf = (
  { name, id, createdAt }: Pick<StoredTenant, 'name' | 'id' | 'createdAt'>,
  rank: number,
  query: ListQuery,
) => `${sortKey({ name, phase: '', rank, changedAt: createdAt }, query)}/${id}`

const MOST_COUNTED = 99

/** By the worst severity, then by how many items have it. */
function rankOfTenant({ worst, attention }: TenantSummary): number {
  if (worst === null) return ATTENTION_SEVERITIES.length * (MOST_COUNTED + 1)
  const items = Math.min(MOST_COUNTED, attention[worst] ?? 0)
  return ATTENTION_SEVERITIES.indexOf(worst) * (MOST_COUNTED + 1) + MOST_COUNTED - items
}

function summaryOf(deps: AttentionDeps, record: StoredTenant): TenantSummary {
  const { id, name, platform, deleting, createdAt } = record
  const { counts, quotas, needed } = gatherAttention(deps, id)
  const { total, counts: byStatus } = counts.nodes
  const attention: { [severity: string]: number } = {}
  for (const { severity } of needed) attention[severity] = (attention[severity] ?? 0) + 1
  const worst: AttentionSeverity | null =
    ATTENTION_SEVERITIES.find((each) => attention[each] !== undefined) ?? null
  return {
    ...{ id, name, platform, deleting, createdAt },
    deployments: counts.deployments,
    nodes: { total, counts: byStatus },
    attention,
    worst,
    quotasReached: reachedQuotas(quotas).map(({ kind }) => kind),
  }
}

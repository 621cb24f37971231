// GET /overview: the state of a tenant on one page, and the worst items with the smallest change that helps.

import {
  type Attention,
  type Cure,
  MAX_ATTENTION,
  type Overview,
  ownerOf,
  type Recommendation,
  type TenantId,
} from '@holdfast/contract'
import { reject } from '@holdfast/core'
import { type Needed, worstFirst } from '@holdfast/core/attention/attention'
import { timestamp } from '../../ports/clock.ts'
import { decisions, deployments, type StoredDecision, tenants } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { globally, inTenant, placementAt } from '../../store/transaction.ts'
import { done, type Outcome, refused } from '../caller.ts'
import { decisionId } from '../deployments/read/decisions.ts'
import { type AttentionDeps, gatherAttention } from './gather-attention.ts'

export type OverviewDeps = AttentionDeps & { readonly store: Store }

export async function readOverview(deps: OverviewDeps, tenant: TenantId): Promise<Outcome<Overview>> {
  const { store, clock } = deps
  await store.fresh()
  const record = store.get(globally(tenants, tenant))?.record
  if (record === undefined) return refused(reject('tenant_not_found', 'tenant', tenant))
  const { counts, quotas, rotations, recommendations, needed } = gatherAttention(deps, tenant)
  const shown = worstFirst(needed).slice(0, MAX_ATTENTION)
  return done({
    at: timestamp(clock),
    tenant: { id: record.id, name: record.name },
    ...counts,
    quotas: quotas.items,
    rotations,
    recommendations: countPriorities(recommendations),
    attention: await withCures(store, tenant, shown),
    attentionOmitted: needed.length - shown.length,
  })
}

function countPriorities(recommendations: readonly Recommendation[]): { [priority: string]: number } {
  const grouped = Object.groupBy(recommendations, ({ priority }) => priority)
  return Object.fromEntries(Object.entries(grouped).map(([priority, group]) => [priority, group.length]))
}

/** The last recorded decision of each deployment without a node has the cheapest cure, so no node is judged again. */
async function withCures(store: Store, tenant: TenantId, items: readonly Needed[]): Promise<Attention[]> {
  const keys = items.map((item) => decisionKey(store, tenant, item))
  const asked = keys.filter((key) => key !== undefined)
  const records = await store.read(decisions, asked)
  const cures = new Map(asked.map((key, at) => [key, cureOf(records[at])]))
  return items.map((item, at) => {
    const cure = cures.get(keys[at] ?? '')
    return cure === undefined ? item : { ...item, cure }
  })
}

function decisionKey(store: Store, tenant: TenantId, { subject }: Needed): string | undefined {
  const stored =
    subject.kind === 'Deployment' ? store.get(inTenant(tenant, deployments, subject.name))?.record : undefined
  if (stored === undefined) return undefined
  const owner = ownerOf('deployment', stored.uid)
  const { decided, shortfall } = store.get(placementAt(tenant, owner))?.record ?? {}
  if (decided === undefined || shortfall === undefined) return undefined
  const id = decisionId({ owner, number: decided.number, at: Date.parse(decided.at) })
  return store.keyspace.tenantKey(tenant, decisions.folder, id)
}

function cureOf(decision: StoredDecision | undefined): Cure | undefined {
  const [text] = decision?.cure ?? []
  if (decision === undefined || text === undefined) return undefined
  const places = [...decision.candidates, ...(decision.groups ?? [])]
  return places.find(({ cure }) => cure?.text === text)?.cure ?? { text, changes: [] }
}

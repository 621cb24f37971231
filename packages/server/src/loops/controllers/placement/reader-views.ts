// Scheduling views for readers: one for each tenant that was asked about lately, updated with each change of the cache, so
// that an explanation does not rebuild the view. These views hold no reservations, because readers explain stored records.
// See docs/design/placement.md#explanations

import { asOwner, type NodeId, ownerOf, type TenantId } from '@holdfast/contract'
import { inSlices } from '../../../lib/slices.ts'
import type { KeptView, PlacementViews } from '../../../operations/deployments/read/explain-now.ts'
import type { Quotas } from '../../../quotas/quotas.ts'
import type { Change } from '../../../store/cache/record-index.ts'
import {
  deployments,
  networks,
  nodeNames,
  nodes,
  placements,
  tenants,
  volumes,
} from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { globally, inTenant } from '../../../store/transaction.ts'
import { createEmptyView, type TenantView } from './tenant-view.ts'

type ReaderStore = Pick<Store, 'get' | 'list' | 'subscribe'>

interface Kept extends KeptView {
  readonly view: TenantView
  /** Resolves when the view has every node and placement of the tenant. */
  readonly filled: Promise<void>
}

/** The most tenants with a kept view; the tenant that was not asked about for the longest time loses its view. */
const MOST_TENANTS = 64

export function createReaderViews(store: ReaderStore, quotas: Pick<Quotas, 'limit'>): PlacementViews {
  const kept = new Map<TenantId, Kept>()
  store.subscribe((changes) => {
    if (kept.size > 0) for (const change of changes) applyChange(store, kept, change)
  })
  return {
    async of(tenant) {
      const known = kept.get(tenant) ?? createKept(store, quotas, tenant)
      kept.delete(tenant)
      kept.set(tenant, known)
      for (const [oldest] of kept) if (kept.size > MOST_TENANTS) kept.delete(oldest)
      try {
        await known.filled
      } catch (error) {
        kept.delete(tenant)
        throw error
      }
      return known
    },
  }
}

function createKept(store: ReaderStore, quotas: Pick<Quotas, 'limit'>, tenant: TenantId): Kept {
  const view = createEmptyView(store, quotas, tenant)
  return {
    view,
    scheduling: view.scheduling,
    answers: new Map(),
    // Changes that arrive while the view is filled are applied at once and do no harm.
    filled: inSlices(view.refresh()),
  }
}

function applyChange(store: ReaderStore, kept: ReadonlyMap<TenantId, Kept>, { key }: Change): void {
  const { tenant, folder, id } = key
  if (folder === nodeNames.folder) {
    for (const claim of store.get(globally(nodeNames, id))?.record.claims ?? [])
      change(kept, claim.tenant, (view) => view.applyNode(claim.nodeId))
  } else if (tenant === undefined) {
    if (folder === tenants.folder) change(kept, id as TenantId, (view) => view.applyQuota())
  } else if (folder === nodes.folder) change(kept, tenant, (view) => view.applyNode(id as NodeId))
  else if (folder === placements.folder) change(kept, tenant, (view) => view.applyPlacement(asOwner(id)))
  // The place of a volume or network is part of the question, not of the view, so only the answers are dropped.
  else if (folder === volumes.folder || folder === networks.folder) change(kept, tenant, () => undefined)
  else if (folder === deployments.folder) {
    // The resource requests of the deployment's replicas may have changed.
    const uid = store.get(inTenant(tenant, deployments, id))?.record.uid
    if (uid !== undefined) change(kept, tenant, (view) => view.applyPlacement(ownerOf('deployment', uid)))
  }
}

function change(
  kept: ReadonlyMap<TenantId, Kept>,
  tenant: TenantId,
  apply: (view: TenantView) => unknown,
): void {
  const known = kept.get(tenant)
  if (known === undefined) return
  apply(known.view)
  known.answers.clear()
}

// What the controller of deployments is given and what it knows while it runs.

import type { NodeId, ResidencyRules, TenantId } from '@holdfast/contract'
import type { Clock } from '../../ports/clock.ts'
import type { Quotas } from '../../quotas/quotas.ts'
import type { Store } from '../../store/store.ts'
import type { Leadership } from '../leadership/lead-shards.ts'
import { createTenantView, type TenantView } from './placement/tenant-view.ts'
import type { DelayedQueue } from './queue/delayed-queue.ts'
import { createDependents, type Dependents } from './queue/dependents.ts'
import type { KeyQueue } from './queue/key-queue.ts'
import { createObservationDedup, type ObservationDedup } from './queue/observation-dedup.ts'
import { createWaitingList, type WaitingList } from './queue/waiting-list.ts'

export interface PlacingDeps {
  readonly store: Store
  readonly clock: Clock
  readonly leadership: Pick<Leadership, 'owns' | 'fenced' | 'subscribe'>
  readonly quotas: Pick<Quotas, 'limit'>
  readonly residency: ResidencyRules
  /** Deployments worked on at once: their transactions travel together (PERFORMANCE 2.1). */
  readonly concurrency?: number
  /** Every deployment is looked at again after so long, whatever an event missed. */
  readonly resyncMs?: number
  random(): number
  onError(error: unknown, deployment: string): void
}

export interface KnownTenant {
  readonly view: TenantView
  readonly waiting: WaitingList
  readonly dependents: Dependents
  readonly sightings: ObservationDedup
  /** After a takeover agents need a moment to be heard: nothing is overdue before. */
  readonly listensUntil: number
}

export interface Controller {
  readonly deps: PlacingDeps
  readonly tenants: Map<TenantId, KnownTenant>
  readonly queue: Pick<KeyQueue, 'add'>
  readonly due: DelayedQueue
}

/** What the queue is keyed by: a name has one deployment at a time, also while the old one is being deleted. */
export const keyOf = (tenant: TenantId, name: string): string => `${tenant}/${name}`
/** A node that is to be emptied: no deployment has such a name. */
export const NODE_MARK = '@'
export const nodeKeyOf = (tenant: TenantId, id: NodeId): string => `${tenant}/${NODE_MARK}${id}`
export const TENANT_LENGTH = 36

/** As long as an agent may take to come back after the control plane was away (DECISIONS 5: a heartbeat every 10 s). */
const LISTENING_MS = 20_000

export function tenantOf(controller: Controller, id: TenantId): KnownTenant {
  const known = controller.tenants.get(id)
  if (known !== undefined) return known
  const { store, quotas, clock } = controller.deps
  const made = {
    view: createTenantView(store, quotas, id),
    waiting: createWaitingList(),
    dependents: createDependents(),
    sightings: createObservationDedup(),
    listensUntil: clock.now() + LISTENING_MS,
  }
  controller.tenants.set(id, made)
  return made
}

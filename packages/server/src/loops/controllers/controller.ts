// The dependencies of the deployment controller, and its state while it runs.

import type { ResidencyRules, TenantId } from '@holdfast/contract'
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
  /** How many deployments are reconciled at once; group commit can then send their transactions together. */
  readonly concurrency?: number
  /** The resync interval: every deployment is requeued this often, in case a change was missed. */
  readonly resyncMs?: number
  random(): number
  onError(error: unknown, workKey: string): void
}

export interface KnownTenant {
  readonly view: TenantView
  readonly waiting: WaitingList
  readonly dependents: Dependents
  readonly observed: ObservationDedup
  /** Time before which no replica is overdue: after a change of the shard's owner, agents need time to report. */
  readonly graceUntil: number
}

export interface Controller {
  readonly deps: PlacingDeps
  readonly tenants: Map<TenantId, KnownTenant>
  readonly queue: Pick<KeyQueue, 'add'>
  readonly due: DelayedQueue
}

/** The longest time that agents need to reconnect after an outage of the control plane: two heartbeat intervals. */
const LISTENING_MS = 20_000

export function tenantOf(controller: Controller, id: TenantId): KnownTenant {
  const known = controller.tenants.get(id)
  if (known !== undefined) return known
  const { store, quotas, clock } = controller.deps
  const created = {
    view: createTenantView(store, quotas, id),
    waiting: createWaitingList(),
    dependents: createDependents(),
    observed: createObservationDedup(),
    graceUntil: clock.now() + LISTENING_MS,
  }
  controller.tenants.set(id, created)
  return created
}

// The deployment controller: a change of a tenant whose shard this process owns enqueues the deployments that it concerns, and
// reconciling a deployment leads to one fenced transaction or to nothing. See docs/design/leadership.md#work-queue

import type { TenantId } from '@holdfast/contract'
import { deployments, tenants } from '../../store/records.ts'
import type { ShardChange } from '../leadership/leadership-state.ts'
import { shardOf } from '../leadership/shard-of.ts'
import { repeat } from '../repeat.ts'
import {
  type Controller,
  keyOf,
  NODE_MARK,
  nodeKeyOf,
  type PlacingDeps,
  TENANT_LENGTH,
  tenantOf,
} from './controller.ts'
import { finishLeaving } from './placement/finish-leaving.ts'
import { reconcileDeployment } from './placement/reconcile-deployment.ts'
import { createDelayedQueue } from './queue/delayed-queue.ts'
import { createKeyQueue, exponentialBackoff } from './queue/key-queue.ts'
import { noticeChange } from './queue/notice-changes.ts'

export interface PlacementController {
  /** Keys that are queued, running or backing off after a failure. */
  readonly pending: number
  stop(): Promise<void>
}

const CONCURRENCY = 256
const RESYNC_MS = 60_000
const DUE_MS = 200
const FIRST_BACKOFF_MS = 50
const LONGEST_BACKOFF_MS = 10_000

export function startPlacing(deps: PlacingDeps): PlacementController {
  const { store, leadership, concurrency = CONCURRENCY, resyncMs = RESYNC_MS } = deps
  const queue = createKeyQueue({
    concurrency,
    work: (key) =>
      key[TENANT_LENGTH + 1] === NODE_MARK
        ? finishLeaving(controller, key)
        : reconcileDeployment(controller, key),
    backoffMs: exponentialBackoff(FIRST_BACKOFF_MS, LONGEST_BACKOFF_MS, deps.random),
    onError: (key, error) => deps.onError(error, key),
  })
  const controller: Controller = { deps, tenants: new Map(), queue, due: createDelayedQueue() }
  const unwatch = store.subscribe((changes) => {
    // The whole batch is applied before anything is reconciled. The cache already holds the batch, and a plan must not be made
    // from a view that holds only a part of it.
    const keys = new Set<string>()
    const applying: Controller = { ...controller, queue: { add: (key) => void keys.add(key) } }
    for (const change of changes) noticeChange(applying, change)
    for (const key of keys) queue.add(key)
  })
  const unfollow = leadership.subscribe((change) => followShards(controller, change))
  for (const { record } of store.list(tenants)) enqueueAll(controller, record.id)
  const onError = (error: unknown) => deps.onError(error, '')
  const resync = repeat(resyncMs, async () => resyncAll(controller), onError)
  const delayed = repeat(DUE_MS, async () => requeueDue(controller), onError)
  return {
    get pending() {
      return queue.size
    },
    async stop() {
      unwatch()
      unfollow()
      await delayed.stop()
      await resync.stop()
      await queue.stop()
    },
  }
}

function enqueueAll(controller: Controller, tenant: TenantId): void {
  const {
    deps: { store, leadership },
    queue,
  } = controller
  if (!leadership.owns(tenant)) return
  for (const id of tenantOf(controller, tenant).view.leaving()) queue.add(nodeKeyOf(tenant, id))
  for (const { record } of store.list(deployments, tenant)) queue.add(keyOf(tenant, record.spec.name))
}

function resyncAll(controller: Controller): void {
  for (const { view } of controller.tenants.values()) view.refresh()
  for (const { record } of controller.deps.store.list(tenants)) enqueueAll(controller, record.id)
}

/** A key whose shard has moved to another process is ignored when it is reconciled. */
function requeueDue({ due, deps, queue }: Controller): void {
  for (const key of due.removeDue(deps.clock.now())) queue.add(key)
}

/** Forgets the tenants of lost shards, and enqueues every deployment of gained ones. */
function followShards(controller: Controller, { gained, lost }: ShardChange): void {
  const changed = new Set([...lost, ...gained])
  for (const tenant of controller.tenants.keys())
    if (changed.has(shardOf(tenant))) controller.tenants.delete(tenant)
  if (gained.length === 0) return
  const own = new Set(gained)
  for (const { record } of controller.deps.store.list(tenants))
    if (own.has(shardOf(record.id))) enqueueAll(controller, record.id)
}

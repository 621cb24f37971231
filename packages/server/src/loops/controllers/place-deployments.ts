// The controller of deployments: whatever changes of a tenant whose shard is ours leads to a look at the deployments it
// concerns, and a look leads to one fenced transaction or to nothing. DESIGN 4, SAFETY 4b.

import type { TenantId } from '@holdfast/contract'
import { deployments, tenants } from '../../store/records.ts'
import type { ShardChange } from '../leadership/leading.ts'
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

export interface Placing {
  /** Deployments that wait for a look, have one, or rest after a failure. */
  readonly pending: number
  stop(): Promise<void>
}

const CONCURRENCY = 256
const RESYNC_MS = 60_000
const DUE_MS = 200
const FIRST_REST_MS = 50
const LONGEST_REST_MS = 10_000

export function startPlacing(deps: PlacingDeps): Placing {
  const { store, leadership, concurrency = CONCURRENCY, resyncMs = RESYNC_MS } = deps
  const queue = createKeyQueue({
    concurrency,
    work: (key) =>
      key[TENANT_LENGTH + 1] === NODE_MARK
        ? finishLeaving(controller, key)
        : reconcileDeployment(controller, key),
    restMs: exponentialBackoff(FIRST_REST_MS, LONGEST_REST_MS, deps.random),
    onError: (key, error) => deps.onError(error, key),
  })
  const controller: Controller = { deps, tenants: new Map(), queue, due: createDelayedQueue() }
  const unwatch = store.subscribe((changes) => {
    // All of it is noted before anything is looked at: a look takes what it is compared with from the cache, which has all of
    // it, and would decide on a view that has half.
    const keys = new Set<string>()
    const noting: Controller = { ...controller, queue: { add: (key) => void keys.add(key) } }
    for (const change of changes) noticeChange(noting, change)
    for (const key of keys) queue.add(key)
  })
  const unfollow = leadership.subscribe((change) => followShards(controller, change))
  for (const { record } of store.list(tenants)) enqueueAll(controller, record.id)
  const onError = (error: unknown) => deps.onError(error, '')
  const resync = repeat(resyncMs, async () => lookAtAll(controller), onError)
  const dueLooks = repeat(DUE_MS, async () => lookAtDue(controller), onError)
  return {
    get pending() {
      return queue.size
    },
    async stop() {
      unwatch()
      unfollow()
      await dueLooks.stop()
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

function lookAtAll(controller: Controller): void {
  for (const { view } of controller.tenants.values()) view.refresh()
  for (const { record } of controller.deps.store.list(tenants)) enqueueAll(controller, record.id)
}

/** Whose is another's now is not looked at: a look asks first. */
function lookAtDue({ due, deps, queue }: Controller): void {
  for (const key of due.take(deps.clock.now())) queue.add(key)
}

/** What was known of a lost shard is forgotten; of a gained one everything is looked at. */
function followShards(controller: Controller, { gained, lost }: ShardChange): void {
  const gone = new Set([...lost, ...gained])
  for (const tenant of controller.tenants.keys())
    if (gone.has(shardOf(tenant))) controller.tenants.delete(tenant)
  if (gained.length === 0) return
  const came = new Set(gained)
  for (const { record } of controller.deps.store.list(tenants))
    if (came.has(shardOf(record.id))) enqueueAll(controller, record.id)
}

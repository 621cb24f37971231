// The controller of deployments and jobs. If this process owns the tenant's shard, each record change enqueues those
// concerned. Reconciling one of them writes its plan in one fenced transaction. See docs/design/leadership.md#work-queue

import { asOwner, isFinalPhase, jobIdOf, type TenantId } from '@holdfast/contract'
import { inSlices } from '../../lib/slices.ts'
import { deployments, jobs, placements, tenants } from '../../store/records.ts'
import type { ShardChange } from '../leadership/leadership-state.ts'
import { shardOf } from '../leadership/shard-of.ts'
import { repeat } from '../repeat.ts'
import { type Controller, type PlacingDeps, tenantOf } from './controller.ts'
import { reconcileJob } from './jobs/reconcile-job.ts'
import { finishLeaving } from './placement/finish-leaving.ts'
import { reconcileDeployment } from './placement/reconcile-deployment.ts'
import { MANY_NODES } from './placement/tenant-view.ts'
import { createDelayedQueue } from './queue/delayed-queue.ts'
import { createKeyQueue, exponentialBackoff } from './queue/key-queue.ts'
import { noticeChange } from './queue/notice-changes.ts'
import { readWorkKey, workKey } from './queue/work-key.ts'

export interface PlacementController {
  /** Number of keys that are queued, running or backing off after a failure. */
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
    work(key) {
      const work = readWorkKey(key)
      if (work.kind === 'job') return reconcileJob(controller, work)
      return work.kind === 'node' ? finishLeaving(controller, work) : reconcileDeployment(controller, work)
    },
    backoffMs: exponentialBackoff(FIRST_BACKOFF_MS, LONGEST_BACKOFF_MS, deps.random),
    onError: (key, error) => deps.onError(error, key),
  })
  const controller: Controller = { deps, tenants: new Map(), queue, due: createDelayedQueue() }
  const unwatch = store.subscribe((changes) => {
    // The view applies the whole batch of changes before a deployment is reconciled: the cache already contains the whole
    // batch, and a plan needs a view that matches the cache.
    const keys = new Set<string>()
    const applying: Controller = { ...controller, queue: { add: (key) => void keys.add(key) } }
    for (const change of changes) noticeChange(applying, change)
    for (const key of keys) queue.add(key)
  })
  const unfollow = leadership.subscribe((change) => followShards(controller, change))
  for (const { record } of store.list(tenants)) enqueueAll(controller, record.id)
  const onError = (error: unknown) => deps.onError(error, '')
  const resync = repeat(resyncMs, () => resyncAll(controller), onError)
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
  for (const id of tenantOf(controller, tenant).view.leaving())
    queue.add(workKey({ kind: 'node', tenant, id }))
  for (const { record } of store.list(deployments, tenant))
    queue.add(workKey({ kind: 'deployment', tenant, name: record.spec.name }))
  for (const { record } of store.list(jobs, tenant))
    if (!isFinalPhase(record.phase)) queue.add(workKey({ kind: 'job', tenant, id: record.id }))
  for (const { id } of store.keysOf(placements, tenant)) {
    const job = jobIdOf(asOwner(id))
    if (job !== undefined) queue.add(workKey({ kind: 'job', tenant, id: job }))
  }
}

async function resyncAll(controller: Controller): Promise<void> {
  for (const { view } of [...controller.tenants.values()]) {
    const steps = view.refresh()
    if (view.size >= MANY_NODES) await inSlices(steps)
    else for (const _step of steps);
  }
  for (const { record } of controller.deps.store.list(tenants)) enqueueAll(controller, record.id)
}

/** Requeues the keys whose time has come. Keys whose shard has moved to another process are ignored when they run. */
function requeueDue({ due, deps, queue }: Controller): void {
  for (const key of due.removeDue(deps.clock.now())) queue.add(key)
}

/** Drops the state of tenants in lost shards, and enqueues every deployment of tenants in gained shards. */
function followShards(controller: Controller, { gained, lost }: ShardChange): void {
  const changed = new Set([...lost, ...gained])
  for (const tenant of controller.tenants.keys())
    if (changed.has(shardOf(tenant))) controller.tenants.delete(tenant)
  if (gained.length === 0) return
  const own = new Set(gained)
  for (const { record } of controller.deps.store.list(tenants))
    if (own.has(shardOf(record.id))) enqueueAll(controller, record.id)
}

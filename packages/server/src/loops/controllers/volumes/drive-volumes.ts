// The volume controller. If this process owns the tenant's shard, each change of a record enqueues the volumes concerned,
// and each volume is decided from its record, the reports of its agents and the state of its nodes.
// See docs/design/volumes.md#volumes-in-the-server

import { asVolumeId, isTenantId, isVolumeId, type TenantId } from '@holdfast/contract'
import { copyNode } from '../../../operations/volumes/volume-situation.ts'
import type { Change } from '../../../store/cache/record-index.ts'
import {
  copyReports,
  nodeNames,
  nodes,
  placements,
  pools,
  type StoredVolume,
  tenants,
  volumes,
} from '../../../store/records.ts'
import { globally } from '../../../store/transaction.ts'
import type { ShardChange } from '../../leadership/leadership-state.ts'
import { shardOf } from '../../leadership/shard-of.ts'
import { repeat } from '../../repeat.ts'
import { createDelayedQueue } from '../queue/delayed-queue.ts'
import { createKeyQueue, exponentialBackoff } from '../queue/key-queue.ts'
import { reconcileVolume, type VolumeLoopDeps } from './reconcile-volume.ts'

export interface VolumeControllerDeps extends VolumeLoopDeps {
  /** The resync interval: every volume is requeued this often, in case a change was missed. */
  readonly resyncMs?: number
  random(): number
  onError(error: unknown, workKey: string): void
}

export interface VolumeController {
  /** Number of volumes that are queued, running or backing off after a failure. */
  readonly pending: number
  stop(): Promise<void>
}

/** Volumes are written one after another within a tenant, so more would only conflict. */
const CONCURRENCY = 16
const RESYNC_MS = 60_000
const DUE_MS = 1_000
const FIRST_BACKOFF_MS = 50
const LONGEST_BACKOFF_MS = 10_000

const keyOf = (tenant: TenantId, id: string): string => `${tenant}/${id}`

/** Enqueues a volume of a tenant whose shard this process owns. */
type Enqueue = (tenant: TenantId, id: string) => void

export function driveVolumes(deps: VolumeControllerDeps): VolumeController {
  const { store, leadership, clock, resyncMs = RESYNC_MS } = deps
  const due = createDelayedQueue()
  const queue = createKeyQueue({
    concurrency: CONCURRENCY,
    async work(key) {
      const [tenant = '', id = ''] = key.split('/')
      if (!isTenantId(tenant) || !isVolumeId(id)) return
      due.note(key, await reconcileVolume(deps, tenant, asVolumeId(id)))
    },
    backoffMs: exponentialBackoff(FIRST_BACKOFF_MS, LONGEST_BACKOFF_MS, deps.random),
    onError: (key, error) => deps.onError(error, key),
  })
  const enqueue: Enqueue = (tenant, id) => {
    if (leadership.owns(tenant)) queue.add(keyOf(tenant, id))
  }
  const enqueueAll = (): void => {
    for (const { record } of store.list(tenants)) enqueueTenant(deps, enqueue, record.id)
  }
  const unwatch = store.subscribe((changes) => {
    for (const change of changes) noticeChange(deps, enqueue, change)
  })
  const unfollow = leadership.subscribe((change) => followShards(deps, enqueue, change))
  enqueueAll()
  const onError = (error: unknown) => deps.onError(error, '')
  const resync = repeat(resyncMs, async () => enqueueAll(), onError)
  const delayed = repeat(
    DUE_MS,
    async () => {
      for (const key of due.removeDue(clock.now())) queue.add(key)
    },
    onError,
  )
  return {
    get pending() {
      return queue.size
    },
    async stop() {
      unwatch()
      unfollow()
      await Promise.all([resync.stop(), delayed.stop()])
      await queue.stop()
    },
  }
}

function enqueueTenant({ store, leadership }: VolumeLoopDeps, enqueue: Enqueue, tenant: TenantId): void {
  if (leadership.owns(tenant)) for (const { id } of store.keysOf(volumes, tenant)) enqueue(tenant, id)
}

function followShards(deps: VolumeLoopDeps, enqueue: Enqueue, { gained }: ShardChange): void {
  const own = new Set(gained)
  for (const { record } of deps.store.list(tenants))
    if (own.has(shardOf(record.id))) enqueueTenant(deps, enqueue, record.id)
}

function noticeChange(deps: VolumeLoopDeps, enqueue: Enqueue, { key }: Change): void {
  const { tenant, folder, id } = key
  if (tenant === undefined) {
    const claims = folder === nodeNames.folder ? deps.store.get(globally(nodeNames, id))?.record.claims : []
    for (const claim of claims ?? []) enqueueTenant(deps, enqueue, claim.tenant)
  } else if (!deps.leadership.owns(tenant)) return
  else if (folder === copyReports.folder) enqueue(tenant, id.split('/')[0] ?? '')
  else if (folder === pools.folder) enqueueWhere(deps, enqueue, tenant, ({ phase }) => phase === 'Lost')
  else if (folder === nodes.folder) enqueueTenant(deps, enqueue, tenant)
  else if (folder === placements.folder) enqueueWhere(deps, enqueue, tenant, isOnLeavingNode(deps, tenant))
  else if (folder === volumes.folder) {
    enqueue(tenant, id)
    enqueueWhere(deps, enqueue, tenant, isWaiting)
  }
}

function enqueueWhere(
  { store }: VolumeLoopDeps,
  enqueue: Enqueue,
  tenant: TenantId,
  isConcerned: (volume: StoredVolume) => boolean,
): void {
  if (store.keysOf(volumes, tenant).length === 0) return
  for (const { record } of store.list(volumes, tenant)) if (isConcerned(record)) enqueue(tenant, record.id)
}

/** Whether another volume may free the room for which this one waits, or moves together with it. */
const isWaiting = ({ spec, copies, handover, phase }: StoredVolume): boolean =>
  Boolean(handover) ||
  (phase !== 'Deleting' && phase !== 'Lost' && spec.class !== 'object' && copies.length <= spec.replicas)

/** Whether the primary of a volume must leave its node, which it can once the containers that use it are gone. */
function isOnLeavingNode({ store }: VolumeLoopDeps, tenant: TenantId) {
  return ({ primary }: StoredVolume): boolean =>
    primary !== null &&
    copyNode((address) => store.get(address)?.record, tenant, primary.nodeId)?.isLeaving === true
}

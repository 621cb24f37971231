// The network controller. If this process owns the tenant's shard, each change of a record enqueues the networks
// concerned, and each network is decided from its record, the report of its agent and the state of its node.
// See docs/design/networks.md#phases

import { asNetworkId, isNetworkId, isTenantId, type TenantId } from '@holdfast/contract'
import type { Change } from '../../../store/cache/record-index.ts'
import { networkReports, networks, nodeNames, nodes, tenants } from '../../../store/records.ts'
import { globally, inTenant } from '../../../store/transaction.ts'
import type { ShardChange } from '../../leadership/leadership-state.ts'
import { shardOf } from '../../leadership/shard-of.ts'
import { repeat } from '../../repeat.ts'
import { createKeyQueue, exponentialBackoff } from '../queue/key-queue.ts'
import { type NetworkLoopDeps, reconcileNetwork } from './reconcile-network.ts'

export interface NetworkControllerDeps extends NetworkLoopDeps {
  /** The resync interval: every network is requeued this often, in case a change was missed. */
  readonly resyncMs?: number
  random(): number
  onError(error: unknown, workKey: string): void
}

export interface NetworkController {
  /** Number of networks that are queued, running or backing off after a failure. */
  readonly pending: number
  stop(): Promise<void>
}

const CONCURRENCY = 16
const RESYNC_MS = 60_000
const FIRST_BACKOFF_MS = 50
const LONGEST_BACKOFF_MS = 10_000

/** Enqueues a network of a tenant whose shard this process owns. */
type Enqueue = (tenant: TenantId, id: string) => void

export function driveNetworks(deps: NetworkControllerDeps): NetworkController {
  const { store, leadership, resyncMs = RESYNC_MS } = deps
  const queue = createKeyQueue({
    concurrency: CONCURRENCY,
    async work(key) {
      const [tenant = '', id = ''] = key.split('/')
      if (isTenantId(tenant) && isNetworkId(id)) await reconcileNetwork(deps, tenant, asNetworkId(id))
    },
    backoffMs: exponentialBackoff(FIRST_BACKOFF_MS, LONGEST_BACKOFF_MS, deps.random),
    onError: (key, error) => deps.onError(error, key),
  })
  const enqueue: Enqueue = (tenant, id) => {
    if (leadership.owns(tenant)) queue.add(`${tenant}/${id}`)
  }
  const enqueueAll = (): void => {
    for (const { record } of store.list(tenants)) enqueueTenant(deps, enqueue, record.id)
  }
  const unwatch = store.subscribe((changes) => {
    for (const change of changes) noticeChange(deps, enqueue, change)
  })
  const unfollow = leadership.subscribe((change) => followShards(deps, enqueue, change))
  enqueueAll()
  const resync = repeat(
    resyncMs,
    async () => enqueueAll(),
    (error) => deps.onError(error, ''),
  )
  return {
    get pending() {
      return queue.size
    },
    async stop() {
      unwatch()
      unfollow()
      await resync.stop()
      await queue.stop()
    },
  }
}

function enqueueTenant({ store, leadership }: NetworkLoopDeps, enqueue: Enqueue, tenant: TenantId): void {
  if (leadership.owns(tenant)) for (const { id } of store.keysOf(networks, tenant)) enqueue(tenant, id)
}

function followShards(deps: NetworkLoopDeps, enqueue: Enqueue, { gained }: ShardChange): void {
  const own = new Set(gained)
  for (const { record } of deps.store.list(tenants))
    if (own.has(shardOf(record.id))) enqueueTenant(deps, enqueue, record.id)
}

function noticeChange(deps: NetworkLoopDeps, enqueue: Enqueue, { key }: Change): void {
  const { tenant, folder, id } = key
  if (tenant === undefined) {
    const claims = folder === nodeNames.folder ? deps.store.get(globally(nodeNames, id))?.record.claims : []
    for (const claim of claims ?? []) enqueueOfNode(deps, enqueue, claim.tenant, claim.nodeId)
  } else if (folder === networks.folder || folder === networkReports.folder) enqueue(tenant, id)
  else if (folder === nodes.folder) enqueueOfNode(deps, enqueue, tenant, id)
}

function enqueueOfNode({ store }: NetworkLoopDeps, enqueue: Enqueue, tenant: TenantId, nodeId: string): void {
  for (const { id } of store.keysOf(networks, tenant))
    if (store.get(inTenant(tenant, networks, id))?.record.nodeId === nodeId) enqueue(tenant, id)
}

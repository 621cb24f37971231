// The replicas of deployments and jobs on the nodes of a tenant, the resources that they request, and when a node was last
// heard.

import { type Capacity, type NodeId, type NodeReplica, readOwner, type TenantId } from '@holdfast/contract'
import { requestedBy } from '@holdfast/core'
import { isUp } from '@holdfast/core/node'
import { NOTHING, requestsOf } from '../../scheduling/scheduling-facts.ts'
import {
  observations,
  placements,
  type StoredNode,
  type StoredPlacement,
  volumes,
} from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant } from '../../store/transaction.ts'

type ReadStore = Pick<Store, 'get' | 'list'>

export interface NodeLoad {
  readonly requested: Capacity
  readonly replicas: number
}

/** The load of every node with a replica. */
export function gatherLoads(store: ReadStore, tenant: TenantId): ReadonlyMap<NodeId, NodeLoad> {
  const loads = new Map<NodeId, NodeLoad>()
  for (const { record } of store.list(placements, tenant)) {
    const requests = requestsOf(store, tenant, record)
    for (const assignment of record.assignments) {
      const { nodeId } = assignment
      const resources = requestedBy(requests, assignment)
      const { requested, replicas } = loads.get(nodeId) ?? NO_LOAD
      const sum = {
        cpuMillis: requested.cpuMillis + resources.cpuMillis,
        memoryBytes: requested.memoryBytes + resources.memoryBytes,
      }
      loads.set(nodeId, { requested: sum, replicas: replicas + 1 })
    }
  }
  return loads
}

export const NO_LOAD: NodeLoad = { requested: NOTHING, replicas: 0 }

export interface HeardDeps {
  /** When the session of a node was last heard, in milliseconds since 1970; undefined if another server holds it. */
  heardAt(nodeId: NodeId): number | undefined
  /** How long a node is silent before it is unreachable, and before it has failed. */
  readonly silence: { readonly unreachableMs: number; readonly failedMs: number }
}

/** When a node was last heard. For a silent node it follows from its record, which every server has. */
export function lastHeardAt({ heardAt, silence }: HeardDeps, node: StoredNode): string | null {
  const held = heardAt(node.id)
  if (held !== undefined) return new Date(held).toISOString()
  const since = Date.parse(node.statusSince)
  if (node.status === 'unreachable') return new Date(since - silence.unreachableMs).toISOString()
  return node.status === 'failed' ? new Date(since - silence.failedMs).toISOString() : null
}

/** The replicas on a node. An owner of a kind that only a newer server knows is left out. */
export function replicasOn(store: ReadStore, tenant: TenantId, nodeId: NodeId): NodeReplica[] {
  return store.list(placements, tenant).flatMap(({ record }) => {
    const owner = readOwner(record.owner)
    const on = record.assignments.filter((each) => each.nodeId === nodeId)
    if (owner === undefined || on.length === 0) return []
    const requests = requestsOf(store, tenant, record)
    const kind = owner.kind === 'job' ? ('Job' as const) : ('Deployment' as const)
    return on.map((each) => ({
      assignmentId: each.id,
      kind,
      name: record.name,
      uid: owner.id,
      replica: each.replica,
      revision: each.revision,
      ...observedOf(store, tenant, each.id),
      requested: requestedBy(requests, each),
      volumes: mountedNames(store, tenant, record, each.templateHash),
      leaving: each.desired !== 'running',
    }))
  })
}

function observedOf(store: ReadStore, tenant: TenantId, id: NodeReplica['assignmentId']) {
  const seen = store.get(inTenant(tenant, observations, id))?.record
  return {
    state: seen?.state ?? ('assigned' as const),
    startedAt: seen !== undefined && isUp(seen) ? seen.startedAt : null,
    ...(seen === undefined || seen.reason === '' ? {} : { reason: seen.reason }),
    ...(seen === undefined ? {} : { restarts: seen.restarts }),
  }
}

function mountedNames(
  store: ReadStore,
  tenant: TenantId,
  { templates }: StoredPlacement,
  templateHash: string,
): string[] {
  const mounts = templates[templateHash]?.mounts ?? []
  return mounts.map(({ volume }) => store.get(inTenant(tenant, volumes, volume))?.record.spec.name ?? volume)
}

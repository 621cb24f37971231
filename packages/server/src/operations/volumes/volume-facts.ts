// The facts for placing volumes: the tenant's nodes with their storage pools and the bytes that copies claim there.

import type { NodeId, ResidencyRules, TenantId, VolumeSpec } from '@holdfast/contract'
import { claimedBytes, type NodeFacts, type TenantFacts, type VolumeDemand } from '@holdfast/core'
import { nodeFacts } from '../../scheduling/scheduling-facts.ts'
import { nodes, platform, pools, type StoredVolume, volumes } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { globally, inTenant } from '../../store/transaction.ts'

type ReadStore = Pick<Store, 'get' | 'list'>

/** Volumes use no containers, so the quota of containers does not apply. */
const UNLIMITED = { used: 0, limit: Number.POSITIVE_INFINITY }

export function gatherVolumeFacts(store: ReadStore, tenant: TenantId): TenantFacts {
  const claimed = claimsByNode(store, tenant)
  const all = store.list(nodes, tenant).map(({ record }): NodeFacts => {
    const facts = nodeFacts(store, tenant, record, [])
    const { storage } = record
    if (storage === undefined || storage.fault !== undefined) return facts
    const quarantined = quarantinedBytes(store, tenant, record.id)
    return {
      ...facts,
      pool: { poolBytes: storage.poolBytes, claimedBytes: (claimed.get(record.id) ?? 0) + quarantined },
    }
  })
  return { nodes: all, containers: UNLIMITED }
}

function claimsByNode(store: ReadStore, tenant: TenantId): Map<NodeId, number> {
  const claimed = new Map<NodeId, number>()
  // Data that an agent has not deleted yet still fills the pool.
  for (const { record } of store.list(volumes, tenant))
    for (const { nodeId } of [...record.copies, ...(record.leaving ?? [])])
      claimed.set(nodeId, (claimed.get(nodeId) ?? 0) + claimedBytes(record.spec.sizeBytes))
  return claimed
}

/** The bytes of quarantined data in the pool of a node, as its agent reported them. */
function quarantinedBytes(store: Pick<Store, 'get'>, tenant: TenantId, nodeId: NodeId): number {
  const { quarantined = [] } = store.get(inTenant(tenant, pools, nodeId))?.record ?? {}
  return quarantined.reduce((sum, { usedBytes = 0 }) => sum + usedBytes, 0)
}

/** The facts without the nodes that still delete an older copy of the volume. */
export function withoutLeaving(
  facts: TenantFacts,
  { leaving = [] }: Pick<StoredVolume, 'leaving'>,
): TenantFacts {
  const gone = new Set(leaving.map(({ nodeId }) => nodeId))
  return gone.size === 0 ? facts : { ...facts, nodes: facts.nodes.filter(({ id }) => !gone.has(id)) }
}

export function demandOf(
  store: Pick<Store, 'get'>,
  tenant: TenantId,
  spec: VolumeSpec,
  rules: ResidencyRules,
): VolumeDemand {
  const ofPlatform = store.get(globally(platform, 'id'))?.record.tenant === tenant
  return { spec, rules, ofPlatform }
}

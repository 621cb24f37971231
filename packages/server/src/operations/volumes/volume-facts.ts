// The facts for placing volumes: the tenant's nodes with their storage pools and the bytes that copies claim there.

import type { NodeId, ResidencyRules, TenantId, VolumeSpec } from '@holdfast/contract'
import { claimedBytes, type NodeFacts, type TenantFacts, type VolumeDemand } from '@holdfast/core'
import { nodeFacts } from '../../scheduling/scheduling-facts.ts'
import { nodes, platform, volumes } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { globally } from '../../store/transaction.ts'

type ReadStore = Pick<Store, 'get' | 'list'>

/** Volumes use no containers, so the quota of containers does not apply. */
const UNLIMITED = { used: 0, limit: Number.POSITIVE_INFINITY }

export function gatherVolumeFacts(store: ReadStore, tenant: TenantId): TenantFacts {
  const claimed = claimsByNode(store, tenant)
  const all = store.list(nodes, tenant).map(({ record }): NodeFacts => {
    const facts = nodeFacts(store, tenant, record, [])
    const { storage } = record
    if (storage === undefined) return facts
    return {
      ...facts,
      pool: { poolBytes: storage.poolBytes, claimedBytes: claimed.get(record.id) ?? 0 },
    }
  })
  return { nodes: all, containers: UNLIMITED }
}

function claimsByNode(store: ReadStore, tenant: TenantId): Map<NodeId, number> {
  const claimed = new Map<NodeId, number>()
  for (const { record } of store.list(volumes, tenant))
    for (const { nodeId } of record.copies)
      claimed.set(nodeId, (claimed.get(nodeId) ?? 0) + claimedBytes(record.spec.sizeBytes))
  return claimed
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

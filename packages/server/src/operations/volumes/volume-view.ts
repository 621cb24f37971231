// A stored volume as its tenant sees it, with the names of its nodes and its consumers.

import type { NodeId, TenantId, Volume, VolumeId } from '@holdfast/contract'
import { deployments, nodes, type StoredVolume } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant } from '../../store/transaction.ts'

type ReadStore = Pick<Store, 'get' | 'list'>

export function volumeView(store: ReadStore, tenant: TenantId, stored: StoredVolume): Volume {
  const { id, spec, phase, reason, primary, copies, revision, createdAt } = stored
  const nameOf = (nodeId: NodeId) => store.get(inTenant(tenant, nodes, nodeId))?.record.name ?? nodeId
  return {
    id,
    ...spec,
    phase,
    reason,
    primary: primary && { ...primary, nodeName: nameOf(primary.nodeId) },
    copies: copies.map(({ nodeId, role, state }) => ({
      nodeId,
      role,
      state,
      nodeName: nameOf(nodeId),
      checkpoint: null,
      checkpointAge: null,
      promotable: false,
    })),
    usedBytes: null,
    measuredAt: null,
    consumers: consumersOf(store, tenant, id),
    createdAt,
    revision,
  }
}

/** The names of the deployments that mount a volume, whatever their number of replicas. */
function consumersOf(store: Pick<Store, 'list'>, tenant: TenantId, id: VolumeId): string[] {
  return store
    .list(deployments, tenant)
    .filter(({ record }) => record.spec.volumes?.some(({ volume }) => volume === id))
    .map(({ record }) => record.spec.name)
    .sort()
}

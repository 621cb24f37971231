// A stored volume as its tenant sees it, with the names of its nodes, its consumers and the newest measurement.

import type { Measurement, NodeId, TenantId, Volume, VolumeId } from '@holdfast/contract'
import { deployments, nodes, type StoredVolume } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant } from '../../store/transaction.ts'

type ReadStore = Pick<Store, 'get' | 'list'>

/** Reads the names of nodes; the id stands for a node that is gone. */
export const namesOfNodes =
  (store: Pick<Store, 'get'>, tenant: TenantId) =>
  (nodeId: NodeId): string =>
    store.get(inTenant(tenant, nodes, nodeId))?.record.name ?? nodeId

/** Without a measurement, the bytes in use and the ages of the copies are null. */
export function volumeView(
  store: ReadStore,
  tenant: TenantId,
  stored: StoredVolume,
  measured?: Measurement,
): Volume {
  const { id, spec, phase, reason, primary, copies, promotable = [], revision, createdAt } = stored
  const nameOf = namesOfNodes(store, tenant)
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
      ...progressOf(measured, nodeId),
      promotable: promotable.includes(nodeId),
    })),
    usedBytes: measured?.usedBytes ?? null,
    measuredAt: measured?.measuredAt ?? null,
    consumers: consumersOf(store, tenant, id),
    createdAt,
    revision,
  }
}

/** The checkpoint that a replica has acknowledged to the primary. */
function progressOf(
  measured: Measurement | undefined,
  nodeId: NodeId,
): Pick<Volume['copies'][number], 'checkpoint' | 'checkpointAge'> {
  const found = measured?.replicas?.find((replica) => replica.nodeId === nodeId)
  return {
    checkpoint: found?.checkpoint?.number ?? null,
    checkpointAge: found?.age ?? null,
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

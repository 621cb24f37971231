// The deployments that mount a volume, and whether containers of them may still use it.

import { type NodeId, ownerOf, type TenantId, type VolumeId } from '@holdfast/contract'
import { deployments, placements, type StoredDeployment, type StoredPlacement } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { placementAt } from '../../store/transaction.ts'

type ReadStore = Pick<Store, 'get' | 'has' | 'list'>

/** `write` means mounts through which a container can change the data; a tmpfs never holds data of the volume. */
type Access = 'any' | 'write'

interface Mount {
  readonly volume: string
  readonly type: string
  readonly readOnly: boolean
}

const isUse =
  (id: VolumeId, access: Access) =>
  ({ volume, type, readOnly }: Mount): boolean =>
    volume === id && type !== 'tmpfs' && (access === 'any' || !readOnly)

/** The deployments that mount the volume, whatever their number of replicas. */
export const usersOf = (
  store: Pick<Store, 'list'>,
  tenant: TenantId,
  id: VolumeId,
  access: Access,
): StoredDeployment[] =>
  store
    .list(deployments, tenant)
    .map(({ record }) => record)
    .filter(({ spec }) => spec.volumes?.some(isUse(id, access)))

/**
 * Whether a container on the node may use the volume: one whose agent has not confirmed that it is gone. A placement that
 * cannot be read counts as use.
 */
export function isUsedOn(
  store: ReadStore,
  tenant: TenantId,
  id: VolumeId,
  nodeId: NodeId,
  access: Access,
): boolean {
  const mounts = (placement: StoredPlacement) => mountsOn(placement, id, nodeId, access)
  if (store.list(placements, tenant).some(({ record }) => mounts(record))) return true
  return usersOf(store, tenant, id, access).some(({ uid }) => {
    const address = placementAt(tenant, ownerOf('deployment', uid))
    const placement = store.get(address)?.record
    if (placement === undefined) return store.has(address)
    return placement.assignments.some((assignment) => assignment.nodeId === nodeId)
  })
}

/** Whether the template of an assignment on the node mounts the volume. */
function mountsOn(
  { assignments, templates }: StoredPlacement,
  id: VolumeId,
  nodeId: NodeId,
  access: Access,
): boolean {
  return assignments.some(
    (assignment) =>
      assignment.nodeId === nodeId &&
      templates[assignment.templateHash]?.mounts?.some(isUse(id, access)) === true,
  )
}

// The deployments that mount a volume, and whether containers of them may still use it.

import { isVolumeId, type NodeId, ownerOf, type TenantId, type VolumeId } from '@holdfast/contract'
import { hasLostPrimaries } from '@holdfast/core'
import {
  deployments,
  placements,
  type StoredDeployment,
  type StoredPlacement,
  volumes,
  volumeWriters,
} from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { inTenant, placementAt } from '../../store/transaction.ts'

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
 * The deployments that write the volume, by their specs or with a container that exists. The two differ after a rollback to a
 * revision with other mounts.
 */
export function writersOf(store: ReadStore, tenant: TenantId, id: VolumeId): StoredDeployment[] {
  const bySpec = usersOf(store, tenant, id, 'write')
  const claim = store.get(inTenant(tenant, volumeWriters, id))?.record
  if (claim === undefined || bySpec.some(({ spec }) => spec.name === claim.name)) return bySpec
  const claimant = store.get(inTenant(tenant, deployments, claim.name))?.record
  return claimant !== undefined && writtenBy(store, tenant, claimant).includes(id)
    ? [...bySpec, claimant]
    : bySpec
}

/** The volumes that a deployment writes, by its spec and with its containers that may exist and can still write. */
export function writtenBy(
  store: ReadStore,
  tenant: TenantId,
  { uid, spec }: Pick<StoredDeployment, 'uid' | 'spec'>,
): VolumeId[] {
  const { assignments, templates } =
    store.get(placementAt(tenant, ownerOf('deployment', uid)))?.record ?? NOT_PLACED
  const primaryOf = (id: string) =>
    isVolumeId(id) ? store.get(inTenant(tenant, volumes, id))?.record.primary : undefined
  const placed = assignments.flatMap(({ templateHash, nodeId }) => {
    const { mounts = [] } = templates[templateHash] ?? {}
    return hasLostPrimaries(mounts, nodeId, primaryOf) ? [] : mounts
  })
  const written = [...(spec.volumes ?? []), ...placed].filter(
    ({ type, readOnly }) => type !== 'tmpfs' && !readOnly,
  )
  return [...new Set(written.flatMap(({ volume }) => (isVolumeId(volume) ? [volume] : [])))]
}

const NOT_PLACED: Pick<StoredPlacement, 'assignments' | 'templates'> = { assignments: [], templates: {} }

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

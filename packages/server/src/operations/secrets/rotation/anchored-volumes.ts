// The volumes whose data depends on a credential, with the nodes of their copies.

import { type DeploymentSpec, isVolumeId, type TenantId, type VolumeId } from '@holdfast/contract'
import { type AnchoredVolume, anchorVolume, promotableCopies } from '@holdfast/core'
import { nodes, type StoredVolume, volumes } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { inTenant } from '../../../store/transaction.ts'
import { namesOfNodes } from '../../volumes/volume-view.ts'

/** A deployment or job that refers to the secret. */
export interface Referring {
  readonly spec: Pick<DeploymentSpec, 'secrets'>
  readonly deleting?: boolean
}

/** The volumes that depend on the secret at the path in one workload. */
export const anchorsOf = ({ spec }: Referring, path: string): VolumeId[] =>
  spec.secrets
    .filter(({ vault_path }) => vault_path === path)
    .map(({ anchor }) => anchorVolume(anchor))
    .filter((id) => id !== undefined && isVolumeId(id))

/** A deployment that is being deleted no longer anchors its secrets. */
export function anchoredVolumes(
  store: Pick<Store, 'get'>,
  tenant: TenantId,
  path: string,
  consumers: readonly Referring[],
): AnchoredVolume[] {
  const ids = new Set(consumers.flatMap((each) => (each.deleting ? [] : anchorsOf(each, path))))
  return [...ids]
    .flatMap((id) => store.get(inTenant(tenant, volumes, id))?.record ?? [])
    .map((volume) => anchoredVolume(store, tenant, volume))
}

function anchoredVolume(store: Pick<Store, 'get'>, tenant: TenantId, volume: StoredVolume): AnchoredVolume {
  const { id, spec, primary } = volume
  const nameOf = namesOfNodes(store, tenant)
  const node = primary === null ? undefined : store.get(inTenant(tenant, nodes, primary.nodeId))?.record
  return {
    id,
    name: spec.name,
    promotable: promotableCopies(volume).map(({ nodeId }) => ({ nodeId, name: nameOf(nodeId) })),
    primary: primary && {
      nodeId: primary.nodeId,
      name: nameOf(primary.nodeId),
      epoch: primary.epoch,
      status: node?.status,
      agent: node?.agent,
    },
  }
}

// Indexes the images of the containers that write each volume, from the placements. A promotable node keeps them pulled, so
// that a writer starts there without a registry. See docs/design/promotable-nodes.md#copies-that-agents-are-sent

import { isVolumeId, type Owner, type TenantId, type VolumeId } from '@holdfast/contract'
import type { StoredPlacement } from '../../store/records.ts'
import { placementAt } from '../../store/transaction.ts'
import type { GatewayDeps } from '../deps.ts'

export interface WriterImages {
  /** The images by digest, sorted. */
  imagesOf(tenant: TenantId, volume: VolumeId): string[]
  /** Reads a changed placement again, and returns the volumes whose images may have changed. */
  update(tenant: TenantId, owner: Owner, gone: boolean): VolumeId[]
}

type ImagesByVolume = ReadonlyMap<VolumeId, ReadonlySet<string>>

const NONE: ImagesByVolume = new Map()

export function createWriterImages(store: Pick<GatewayDeps['store'], 'get'>): WriterImages {
  const byOwner = new Map<string, ImagesByVolume>()
  const owners = new Map<string, Set<string>>()
  return {
    imagesOf(tenant, volume) {
      const images = [...(owners.get(`${tenant}/${volume}`) ?? [])].flatMap((owner) => [
        ...(byOwner.get(owner)?.get(volume) ?? []),
      ])
      return [...new Set(images)].sort()
    },
    update(tenant, owner, gone) {
      const placement = gone ? undefined : store.get(placementAt(tenant, owner))?.record
      // A placement that cannot be read leaves the images as they are known.
      if (placement === undefined && !gone) return []
      const key = `${tenant}/${owner}`
      const before = byOwner.get(key) ?? NONE
      const after = placement === undefined ? NONE : writtenBy(placement)
      if (before.size === 0 && after.size === 0) return []
      if (after.size === 0) byOwner.delete(key)
      else byOwner.set(key, after)
      for (const volume of before.keys()) if (!after.has(volume)) unlink(owners, `${tenant}/${volume}`, key)
      for (const volume of after.keys()) link(owners, `${tenant}/${volume}`, key)
      return [...new Set([...before.keys(), ...after.keys()])]
    },
  }
}

function link(owners: Map<string, Set<string>>, volume: string, owner: string): void {
  owners.set(volume, (owners.get(volume) ?? new Set()).add(owner))
}

function unlink(owners: Map<string, Set<string>>, volume: string, owner: string): void {
  const left = owners.get(volume)
  left?.delete(owner)
  if (left?.size === 0) owners.delete(volume)
}

/** The volumes that the templates of a placement mount read-write, those of the last good revision included. */
function writtenBy({ templates }: StoredPlacement): ImagesByVolume {
  const written = new Map<VolumeId, Set<string>>()
  for (const { image, mounts = [] } of Object.values(templates))
    for (const { volume, type, readOnly } of mounts)
      if (!readOnly && type !== 'tmpfs' && isVolumeId(volume))
        written.set(volume, (written.get(volume) ?? new Set()).add(image))
  return written
}

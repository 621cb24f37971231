// Copies the content of an image into an empty volume before the first start of a writer. Docker copies it for a container
// that is never started, into a folder that becomes the content of the volume when the copy is complete. An agent or engine
// that is killed during a copy leaves parts that the next copy, or the next start of the agent, removes.
// See docs/design/mounts.md#content-of-an-image

import {
  type DesiredItem,
  isVolumeId,
  type TemplateMount,
  type TenantId,
  type VolumeId,
} from '@holdfast/contract'
import {
  type MountPlaces,
  mountPointOf,
  SEED_LABEL,
  seedName,
  seedSettings,
  TENANT_LABEL,
} from '@holdfast/core/node'
import { type Engine, isFault } from '../ports/engine.ts'
import type { HostVolumes } from '../ports/host-volumes.ts'

export interface CopyDeps {
  readonly engine: SeedEngine & Pick<Engine, 'createContainer'>
  readonly tenant: TenantId
  readonly places: Pick<MountPlaces, 'volumes'>
  readonly host: HostVolumes | undefined
}

type SeedEngine = Pick<Engine, 'listVolumes' | 'removeVolume' | 'removeContainer'>

/** Copies the content for a mount of type `volume`. For every type, ends a copy that was interrupted. */
export async function copyContent(
  { engine, host, places, tenant }: CopyDeps,
  { template }: DesiredItem,
  { volume, target, type }: TemplateMount,
): Promise<void> {
  const path = mountPointOf(places, volume)
  await engine.removeContainer(seedName(volume))
  await removeSeedVolumes(engine, tenant, (one) => one === volume)
  const folder = await host?.openSeed(path)
  if (folder === undefined) return
  if (type === 'volume') {
    const id = await engine.createContainer(
      seedName(volume),
      seedSettings(template, tenant, { volume, target, folder }),
    )
    await engine.removeContainer(id)
  }
  await host?.finishSeed(path)
}

/** Removes the engine's volumes of copies. The engine removes them with their containers unless it is killed before. */
export async function removeSeedVolumes(
  engine: SeedEngine,
  tenant: TenantId,
  isOver: (volume: VolumeId) => boolean,
): Promise<void> {
  for (const { name, labels } of await engine.listVolumes(TENANT_LABEL, tenant)) {
    const volume = labels[SEED_LABEL] ?? ''
    if (isVolumeId(volume) && isOver(volume)) await removeUnused(engine, name)
  }
}

/** A volume that a container uses is removed with that container. */
async function removeUnused(engine: SeedEngine, name: string): Promise<void> {
  try {
    await engine.removeVolume(name)
  } catch (error) {
    if (!isFault(error, 'conflict')) throw error
  }
}

// The body of the create call by which Docker copies the content of an image into a folder. Docker does it for a volume that
// is empty, when the container is created; the container is removed without ever being started.
// See docs/design/mounts.md#content-of-an-image

import type { ContainerTemplate, TenantId, VolumeId } from '@holdfast/contract'
import { SEED_LABEL, TENANT_LABEL } from './container-labels.ts'
import { NO_NEW_PRIVILEGES } from './container-settings.ts'

export interface Seed {
  readonly volume: VolumeId
  /** The path in the image whose content is copied. */
  readonly target: string
  /** The empty folder on the node that gets the content. */
  readonly folder: string
}

type Labels = { readonly [label: string]: string }

export interface SeedBody {
  readonly Image: string
  readonly Entrypoint: readonly string[]
  readonly Labels: Labels
  readonly HostConfig: {
    readonly NetworkMode: 'none'
    readonly CapDrop: readonly string[]
    readonly SecurityOpt: readonly string[]
    readonly Mounts: readonly {
      readonly Type: 'volume'
      readonly Target: string
      readonly VolumeOptions: {
        readonly Labels: Labels
        readonly DriverConfig: {
          readonly Name: 'local'
          readonly Options: { readonly [option: string]: string }
        }
      }
    }[]
  }
}

/** The name of the container that copies into the volume. A second copy of the same volume conflicts with the first. */
export const seedName = (volume: VolumeId): string => `holdfast-seed-${volume}`

/** Docker removes a volume without a name together with its container. */
export function seedSettings(
  { image }: Pick<ContainerTemplate, 'image'>,
  tenant: TenantId,
  { volume, target, folder }: Seed,
): SeedBody {
  const Labels = { [SEED_LABEL]: volume, [TENANT_LABEL]: tenant }
  const Options = { type: 'none', o: 'bind', device: folder }
  const VolumeOptions = { Labels, DriverConfig: { Name: 'local', Options } } as const
  return {
    Image: image,
    Entrypoint: ['holdfast-never-started'],
    Labels,
    HostConfig: {
      NetworkMode: 'none',
      CapDrop: ['ALL'],
      SecurityOpt: [NO_NEW_PRIVILEGES],
      Mounts: [{ Type: 'volume', Target: target, VolumeOptions }],
    },
  }
}

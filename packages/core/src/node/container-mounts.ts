// The volumes of a container on its node: Docker's mounts, which of them the container writes, and the cgroup of writers.
// `volume` and `bind` are both bind mounts of the volume's own mount point; they differ before the first start only.
// See docs/design/mounts.md#types

import type { ContainerTemplate, TemplateMount, VolumeId } from '@holdfast/contract'

/** Where a node has its volumes and the cgroups of their writers. */
export interface MountPlaces {
  /** The folder of the mount points: that of a volume is named by its id. */
  readonly volumes: string
  /** The cgroup of all writers: a path below the root of the cgroup file system. */
  readonly cgroup: string
}

/** How the engine names cgroups. `none`: it has no cgroups of its own, as without root. */
export type CgroupDriver = 'cgroupfs' | 'systemd' | 'none'

export type MountBody =
  | {
      readonly Type: 'bind'
      readonly Source: string
      readonly Target: string
      readonly ReadOnly: boolean
      readonly BindOptions: { readonly Propagation: 'rprivate' }
    }
  | {
      readonly Type: 'tmpfs'
      readonly Target: string
      readonly ReadOnly: boolean
      readonly TmpfsOptions: { readonly SizeBytes: number }
    }

type Mounting = Pick<ContainerTemplate, 'mounts'>

/** The mounts of the template that are stored in the node's pool, so not a tmpfs. */
export const storedMounts = ({ mounts = [] }: Mounting): TemplateMount[] =>
  mounts.filter(({ type }) => type !== 'tmpfs')

/** The volumes that a container writes, each once and in order; empty for a container that is no writer. */
export const writtenVolumes = (template: Mounting): VolumeId[] =>
  [
    ...new Set(storedMounts(template).flatMap(({ readOnly, volume }) => (readOnly ? [] : [volume]))),
  ].toSorted()

/**
 * Whether only the agent starts the container. The engine would also start it at boot, when the volume may not be mounted,
 * and would then mount an empty folder. A container that runs once must not be started again by the engine either.
 */
export const isStartedByAgent = (template: Mounting & RunsOnce): boolean =>
  storedMounts(template).length > 0 || runsOnce(template)

type RunsOnce = Pick<ContainerTemplate, 'runs'>

/** Whether the container is never started again after its end. */
export const runsOnce = ({ runs }: RunsOnce): boolean => runs === 'once'

export const mountPointOf = ({ volumes }: Pick<MountPlaces, 'volumes'>, volume: VolumeId): string =>
  `${volumes}/${volume}`

/** Docker's mounts for a template. Docker adds noexec, nosuid and nodev to a tmpfs. */
export const mountBodies = ({ mounts = [] }: Mounting, places: Pick<MountPlaces, 'volumes'>): MountBody[] =>
  mounts.map(({ volume, target, type, readOnly, sizeBytes = 0 }) =>
    type === 'tmpfs'
      ? { Type: type, Target: target, ReadOnly: readOnly, TmpfsOptions: { SizeBytes: sizeBytes } }
      : {
          Type: 'bind',
          Source: mountPointOf(places, volume),
          Target: target,
          ReadOnly: readOnly,
          BindOptions: { Propagation: 'rprivate' },
        },
  )

/**
 * The cgroup parent of a writer, in the form that the engine's driver accepts; undefined for a container that is no
 * writer. Volumes with one writer form a group, which has the parent of its first volume.
 */
export function cgroupParent(
  template: Mounting,
  { cgroup }: Pick<MountPlaces, 'cgroup'>,
  driver: CgroupDriver,
): string | undefined {
  const [first] = writtenVolumes(template)
  if (first === undefined || driver === 'none') return undefined
  return driver === 'systemd' ? `${cgroup}-${first}.slice` : `/${cgroup}/${first}`
}

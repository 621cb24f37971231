// Lets a container with volumes be created and started only while each volume is mounted here and no container of another
// assignment writes it. See docs/design/mounts.md#starts-and-restarts

import type { AssignmentId, DesiredItem, TenantId, VolumeId } from '@holdfast/contract'
import {
  ASSIGNMENT_LABEL,
  cgroupParent,
  type MountPlaces,
  mountPointOf,
  type PlacedMounts,
  storedMounts,
  VOLUME_NOT_MOUNTED,
  writerLabel,
  writtenVolumes,
} from '@holdfast/core/node'
import type { Engine } from '../ports/engine.ts'
import type { HostVolumes } from '../ports/host-volumes.ts'
import type { StartGate } from '../ports/leases.ts'
import type { MountableCopies } from '../ports/volume-copies.ts'
import { ActionError } from './action-error.ts'
import { copyContent } from './copy-content.ts'

export interface VolumeMountDeps {
  readonly engine: Pick<
    Engine,
    'cgroupDriver' | 'listLabelled' | 'createContainer' | 'removeContainer' | 'listVolumes' | 'removeVolume'
  >
  readonly tenant: TenantId
  readonly places: MountPlaces
  /** The copies of this node; undefined: it has none. */
  readonly copies: MountableCopies | undefined
  readonly host: HostVolumes | undefined
  readonly gate: Pick<StartGate, 'require'>
}

export interface VolumeMounts {
  readonly places: MountPlaces
  /**
   * Runs the work while no other assignment can create or start a writer of the same volumes. Throws if one has a writer.
   * `isFirst`: no container writes the volumes, not even one of this assignment.
   */
  holding<T>(item: DesiredItem, work: (isFirst: boolean) => Promise<T>): Promise<T>
  /** Prepares the volumes for the create of the container. Copies the image's content into empty ones, if it is the first. */
  prepare(item: DesiredItem, isFirst: boolean): Promise<PlacedMounts>
  /** Throws unless every volume of the container is mounted here. */
  requireMounted(item: DesiredItem): Promise<void>
  /**
   * The same, and throws unless this node may write the volumes that the container writes. Call it right before each start.
   * A lease may end after this call: its fence then kills the container as soon as it appears.
   */
  requireStartable(item: DesiredItem): Promise<void>
  /** The volumes with a create or a start in progress. */
  held(): ReadonlySet<VolumeId>
}

export function createVolumeMounts(deps: VolumeMountDeps): VolumeMounts {
  const { engine, places } = deps
  const holders = new Map<VolumeId, AssignmentId>()
  const claim = (volume: VolumeId, id: AssignmentId): void => {
    if ((holders.get(volume) ?? id) !== id) throw notMounted(volume, 'has another writer')
    holders.set(volume, id)
  }
  const requireMounted = async ({ template }: DesiredItem): Promise<void> => {
    try {
      for (const { volume } of storedMounts(template)) await requireMount(deps, volume)
    } catch (error) {
      // The fencer unmounts a volume whose lease has ended. The lease is then the reason to report.
      await deps.gate.require(writtenVolumes(template))
      throw error
    }
  }
  return {
    places,
    requireMounted,
    async requireStartable(item) {
      await requireMounted(item)
      await deps.gate.require(writtenVolumes(item.template))
    },
    async holding(item, work) {
      const { assignmentId: id, template } = item
      const volumes = writtenVolumes(template)
      try {
        for (const volume of volumes) claim(volume, id)
        return await work(await isFirstWriter(deps, id, volumes))
      } finally {
        for (const volume of volumes) if (holders.get(volume) === id) holders.delete(volume)
      }
    },
    async prepare(item, isFirst) {
      const { template } = item
      await requireMounted(item)
      const copied = storedMounts(template).filter((mount) => !mount.readOnly && isFirst)
      // A copy writes into the volume before the container is started.
      if (copied.length > 0) await deps.gate.require(writtenVolumes(template))
      for (const mount of copied) await copyContent(deps, item, mount)
      const isWriter = writtenVolumes(template).length > 0
      const driver = isWriter ? await engine.cgroupDriver() : 'none'
      return { volumes: places.volumes, cgroupParent: cgroupParent(template, places, driver) }
    },
    held: () => new Set(holders.keys()),
  }
}

/** Whether no container writes the volumes. Throws if one of another assignment does, whether it runs or not. */
async function isFirstWriter(
  { engine }: VolumeMountDeps,
  id: AssignmentId,
  volumes: readonly VolumeId[],
): Promise<boolean> {
  let isFirst = true
  for (const volume of volumes) {
    const writers = await engine.listLabelled(...writerLabel(volume))
    if (writers.some(({ labels }) => labels[ASSIGNMENT_LABEL] !== id))
      throw notMounted(volume, 'has another writer')
    isFirst &&= writers.length === 0
  }
  return isFirst
}

async function requireMount({ copies, host, places }: VolumeMountDeps, volume: VolumeId): Promise<void> {
  const copy = copies?.mountPoint(volume)
  if (copy === undefined || host === undefined) throw notMounted(volume, 'cannot be mounted on this node now')
  // The settings of the container are checked against the places, so a copy elsewhere could not be used.
  if (copy.path !== mountPointOf(places, volume) || !(await host.isMounted(copy.path, volume)))
    throw notMounted(volume, 'is not mounted at its mount point')
}

function notMounted(volume: VolumeId, why: string): ActionError {
  const about = `The volume ${volume} ${why}.`
  return new ActionError(VOLUME_NOT_MOUNTED, new Error(about), { about })
}

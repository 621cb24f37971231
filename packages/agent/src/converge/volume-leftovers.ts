// Removes what containers with volumes leave on the machine: the empty cgroups of writers, and the parts of interrupted copies
// of an image's content. It runs after each full list, so a killed agent's successor finds the same leftovers.

import type { DesiredItem, TenantId, VolumeId } from '@holdfast/contract'
import { writtenVolumes } from '@holdfast/core/node'
import type { Logger } from 'pino'
import type { Engine } from '../ports/engine.ts'
import type { HostVolumes } from '../ports/host-volumes.ts'
import { removeSeedVolumes } from './copy-content.ts'
import type { OwnContainers } from './own-containers.ts'
import type { VolumeMounts } from './volume-mounts.ts'

/** The kernel may hold the cgroup of a container for a moment after its end. */
const RETRY_MS = 1000

export interface LeftoverDeps {
  readonly engine: Pick<Engine, 'removeContainer' | 'listVolumes' | 'removeVolume'>
  readonly tenant: TenantId
  readonly host: HostVolumes | undefined
  readonly volumes: Pick<VolumeMounts, 'held'>
  readonly log: Logger
}

export interface VolumeLeftovers {
  /** Removes leftovers that the last full list shows. Returns the time until the next attempt; Infinity: none is needed. */
  remove(containers: Pick<OwnContainers, 'written' | 'seeds'>, desired: Iterable<DesiredItem>): number
}

export function createVolumeLeftovers({ engine, tenant, host, volumes, log }: LeftoverDeps): VolumeLeftovers {
  let isFirst = true
  const isOver = (volume: VolumeId): boolean => !volumes.held().has(volume)
  const removeSeeds = async (ids: readonly string[]): Promise<void> => {
    for (const id of ids) await engine.removeContainer(id)
    await removeSeedVolumes(engine, tenant, isOver)
  }
  return {
    remove(containers, desired) {
      const over = containers.seeds().filter(({ volume }) => isOver(volume))
      if (host !== undefined && (isFirst || over.length > 0))
        void removeSeeds(over.map(({ id }) => id)).catch((error: unknown) => {
          isFirst = true
          log.warn({ message: String(error) }, 'leftovers of a copy not removed, retrying')
        })
      isFirst = false
      const expected = [...desired]
        .filter((item) => item.desired === 'running')
        .flatMap(({ template }) => writtenVolumes(template))
      const left = host?.removeEmptyCgroups(new Set([...containers.written(), ...expected])) ?? 0
      return left > 0 ? RETRY_MS : Number.POSITIVE_INFINITY
    },
  }
}

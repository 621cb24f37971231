// Freezes the containers that write a group of volumes, by the cgroup that the group has (docs/design/mounts.md). An agent
// that dies while writers are frozen would leave them so: the next agent thaws all of them at its start.

import { setTimeout as delay } from 'node:timers/promises'
import type { VolumeId } from '@holdfast/contract'
import type { VolumeWriters } from '../../ports/volume-writers.ts'
import { isFrozen, setFrozen } from './cgroup-state.ts'
import { cgroupsOf, freezerRoot } from './writer-cgroups.ts'

const FREEZE_MS = 2_000
const POLL_MS = 2

export interface WriterFreezer extends Pick<VolumeWriters, 'freeze'> {
  /** Thaws the writers of all volumes. */
  thawAll(): void
}

export function createWriterFreezer(cgroup: string, root?: string): WriterFreezer {
  const hierarchy = freezerRoot(root)
  const folders = () => (hierarchy === undefined ? [] : cgroupsOf(hierarchy, cgroup))
  return {
    async freeze(volumes) {
      const first = volumes.toSorted()[0]
      const found = folders().filter(({ volume }) => volume === first)
      const thaw = async (): Promise<void> => {
        for (const { path } of found) setFrozen(path, false)
      }
      try {
        for (const { path } of found) await freezeFolder(path, first)
      } catch (error) {
        await thaw()
        throw error
      }
      return thaw
    },
    thawAll() {
      for (const { path } of folders()) setFrozen(path, false)
    },
  }
}

async function freezeFolder(path: string, volume: VolumeId | undefined): Promise<void> {
  setFrozen(path, true)
  const endMs = performance.now() + FREEZE_MS
  while (!isFrozen(path)) {
    if (performance.now() > endMs)
      throw new Error(`The writer of ${volume} was not frozen within ${FREEZE_MS} ms.`)
    await delay(POLL_MS)
  }
}

// The copies of this node as last observed. Other parts learn from it which copies containers may mount, and the server
// gets each copy whose state has changed.

import type { ObservedCopy, VolumeId } from '@holdfast/contract'
import { isSameReport } from '@holdfast/core/node'
import type { MountableCopies, MountableCopy } from '../ports/volume-copies.ts'

export interface CopyStatus extends MountableCopies {
  /** All copies as last observed. */
  observed(): ObservedCopy[]
  of(volume: VolumeId): ObservedCopy | undefined
  /** Records a copy. `mount` is undefined if containers must not mount it. */
  update(copy: ObservedCopy, mount: MountableCopy | undefined): void
  /** Forgets copies that are not desired. */
  keepOnly(volumes: ReadonlyMap<VolumeId, unknown>): void
}

export function createCopyStatus(report: (copies: ObservedCopy[]) => void): CopyStatus {
  const observed = new Map<VolumeId, ObservedCopy>()
  const mounts = new Map<VolumeId, MountableCopy>()
  const listeners: (() => void)[] = []

  function setMount(volume: VolumeId, mount: MountableCopy | undefined): void {
    const before = mounts.get(volume)
    if (before?.path === mount?.path && before?.epoch === mount?.epoch) return
    if (mount === undefined) mounts.delete(volume)
    else mounts.set(volume, mount)
    for (const listener of listeners) listener()
  }
  return {
    mountPoint: (volume) => mounts.get(volume),
    onChange: (listener) => void listeners.push(listener),
    observed: () => [...observed.values()],
    of: (volume) => observed.get(volume),
    update(copy, mount) {
      const before = observed.get(copy.volume)
      observed.set(copy.volume, copy)
      setMount(copy.volume, mount)
      if (!isSameReport(before, copy)) report([copy])
    },
    keepOnly(volumes) {
      for (const volume of observed.keys()) {
        if (volumes.has(volume)) continue
        observed.delete(volume)
        setMount(volume, undefined)
      }
    },
  }
}

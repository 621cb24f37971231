// The role of this node in the promises of each of its volumes. A change is valid at once, because every one of them makes
// the node more careful until it is on disk; a vote or a request leaves only after `synced`.

import type { DesiredCopy, VolumeId } from '@holdfast/contract'
import {
  followVolume,
  type PromisingNode,
  restoreRole,
  savedRole,
  type VolumeRole,
} from '@holdfast/core/promotion/node/follow-volume'
import type { Logger } from 'pino'
import { coalesce } from '../routing/coalesce.ts'
import type { PromiseFile } from './promise-file.ts'

export interface PromiseTable {
  of(volume: VolumeId): VolumeRole | undefined
  all(): ReadonlyMap<VolumeId, VolumeRole>
  replace(volume: VolumeId, role: VolumeRole): void
  /** Whether this node may have promises or a vote for the volume that it has lost, so it must not act on the volume. */
  isForgotten(volume: VolumeId): boolean
  /** Adapts the roles to the desired copies. `isComplete`: volumes that are not desired are dropped. */
  follow(copies: ReadonlyMap<VolumeId, DesiredCopy>, isComplete: boolean): void
  /** Whether the number of this boot is on disk. Until then this node neither renews nor promises. */
  isWritten(): boolean
  /** Resolves when every change before the call is on disk, and the number of this boot. */
  synced(): Promise<void>
}

interface TableDeps {
  readonly file: PromiseFile
  self(): PromisingNode
  readonly log: Logger
}

export function createPromiseTable({ file, self, log }: TableDeps): PromiseTable {
  const roles = new Map<VolumeId, VolumeRole>()
  const saved = new Map(file.saved)
  let { isForgetful } = file
  // The number of the boot, which could not be written yet.
  let isDirty = !file.isWritten()
  for (const [volume, role] of saved) roles.set(volume, restoreRole(role, volume, self()))

  const write = coalesce(async () => {
    if (!isDirty) return
    isDirty = false
    await file.write(new Map(saved), isForgetful).catch((error: unknown) => {
      isDirty = true
      throw error
    })
  })
  const save = (): void => {
    isDirty = true
    write().catch((error: unknown) => log.error({ message: String(error) }, 'promises write failed'))
  }
  function replace(volume: VolumeId, role: VolumeRole): void {
    roles.set(volume, role)
    const next = savedRole(role)
    if (JSON.stringify(next) === JSON.stringify(saved.get(volume))) return
    saved.set(volume, next)
    save()
  }
  const isForgotten = (volume: VolumeId): boolean => isForgetful && !roles.has(volume)
  return {
    of: (volume) => roles.get(volume),
    all: () => roles,
    replace,
    isForgotten,
    follow(copies, isComplete) {
      for (const [volume, copy] of copies) {
        // A server without promises sends no version. Promises that were needed before stay needed.
        if (copy.desired !== 'present' || (copy.cv === undefined && !roles.has(volume))) continue
        if (isForgotten(volume)) continue
        replace(volume, followVolume(roles.get(volume), copy, self()))
      }
      if (!isComplete) return
      for (const volume of roles.keys()) {
        if (copies.has(volume)) continue
        roles.delete(volume)
        if (saved.delete(volume)) save()
      }
      const isRecovered = ({ volume, desired }: DesiredCopy): boolean =>
        desired !== 'present' || roles.has(volume)
      if (!isForgetful || ![...copies.values()].every(isRecovered)) return
      isForgetful = false
      save()
    },
    isWritten: file.isWritten,
    synced: write,
  }
}

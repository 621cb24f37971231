// Removes the empty cgroups of writers. The engine creates the cgroup parent of a container and never removes it. The kernel
// removes only a cgroup without processes and without children, so a cgroup in use is never harmed.

import { existsSync, lstatSync, readdirSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { isVolumeId, type VolumeId } from '@holdfast/contract'
import type { HostVolumes } from '../../ports/host-volumes.ts'
import { killCgroups } from './kill-cgroups.ts'

const ROOT = '/sys/fs/cgroup'

/** `cgroup`: the cgroup of all writers, as a path below the root of each hierarchy. */
export const createWriterCgroups = (
  cgroup: string,
  root = ROOT,
): Pick<HostVolumes, 'removeEmptyCgroups' | 'writerCgroups' | 'killWriters'> => ({
  killWriters: (cgroups) => [...killCgroups(cgroups).values()].some((found) => found !== 'empty'),
  writerCgroups: (volume) => writerCgroups(cgroup, volume, root),
  removeEmptyCgroups: (keep) =>
    hierarchies(root)
      .flatMap((hierarchy) => cgroupsOf(hierarchy, cgroup))
      .filter(({ volume }) => !keep.has(volume))
      .filter(({ path }) => !removeFolder(path)).length,
})

/** The only hierarchy of cgroup v2, or all of v1. Links are other names of hierarchies. */
function hierarchies(root: string): string[] {
  if (existsSync(join(root, 'cgroup.controllers'))) return [root]
  return foldersIn(root).map((name) => join(root, name))
}

/** The hierarchy that freezes processes; undefined if the kernel has none. */
export function freezerRoot(root = ROOT): string | undefined {
  const freezer = existsSync(join(root, 'cgroup.controllers')) ? root : join(root, 'freezer')
  return existsSync(freezer) ? freezer : undefined
}

/** Both forms of a writer's cgroup: `holdfast/<volume>`, and with systemd `holdfast.slice/holdfast-<volume>.slice`. */
const formsIn = (hierarchy: string, cgroup: string) => [
  { parent: join(hierarchy, cgroup), prefix: '', suffix: '' },
  { parent: join(hierarchy, ...slicesOf(cgroup)), prefix: `${cgroup}-`, suffix: '.slice' },
]

/** The nested slices of systemd: each dash begins a slice below, so `a-b.slice` is in `a.slice`. */
const slicesOf = (cgroup: string): string[] =>
  cgroup.split('-').map((_, at, parts) => `${parts.slice(0, at + 1).join('-')}.slice`)

/** The existing cgroups of writers. */
export function cgroupsOf(
  hierarchy: string,
  cgroup: string,
): { readonly path: string; readonly volume: VolumeId }[] {
  return formsIn(hierarchy, cgroup).flatMap(({ parent, prefix, suffix }) =>
    foldersIn(parent).flatMap((name) => {
      const volume = name.slice(prefix.length, name.length - suffix.length)
      return name === `${prefix}${volume}${suffix}` && isVolumeId(volume)
        ? [{ path: join(parent, name), volume }]
        : []
    }),
  )
}

/**
 * The paths at which writers of the volume have their processes, whichever driver the engine has and whether they exist or
 * not. Empty if the kernel cannot freeze processes, so that a fencer could not end those that fork.
 */
function writerCgroups(cgroup: string, volume: string, root: string): string[] {
  const hierarchy = freezerRoot(root)
  if (hierarchy === undefined) return []
  return formsIn(hierarchy, cgroup).map(({ parent, prefix, suffix }) =>
    join(parent, `${prefix}${volume}${suffix}`),
  )
}

function foldersIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder).filter((name) =>
    lstatSync(join(folder, name), { throwIfNoEntry: false })?.isDirectory(),
  )
}

/** Returns whether the folder is gone. */
function removeFolder(path: string): boolean {
  try {
    rmdirSync(path)
    return true
  } catch {
    return !existsSync(path)
  }
}

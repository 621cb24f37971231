// Finds mounts of a volume in any mount namespace. The kernel deletes a subvolume although a container has it mounted, and
// unmounting it on the machine does not fail for that, so the agent checks before it deletes.

import { readdir, readFile, readlink } from 'node:fs/promises'
import { PoolError } from '../../ports/volume-pool.ts'
import type { PoolTree } from './pool-tree.ts'

/**
 * Errors of a process that has ended since it was listed, and of one that has more rights than the agent, which runs as
 * root: such a process is no container of this machine.
 */
const SKIPPED = new Set(['ENOENT', 'ESRCH', 'EINVAL', 'EACCES', 'EPERM'])

/** Rejects with `busy` if the subvolume at a path of the pool, or a folder in it, is mounted anywhere. */
export async function requireUnused(tree: PoolTree, path: string): Promise<void> {
  const device = deviceAt(await readFile('/proc/self/mountinfo', 'utf8'), tree.at())
  const source = await tree.inFileSystem(path)
  for (const mounts of await readAllMounts())
    if (isMounted(mounts, device, source))
      throw new PoolError('busy', `${path} is mounted, probably in a container.`)
}

/** The lines of the kernel's mount list: id, parent, device, path in the file system, mount point. */
const linesOf = (mounts: string): string[][] => mounts.split('\n').map((line) => line.split(' '))

function deviceAt(mounts: string, mountPoint: string): string {
  const device = linesOf(mounts).findLast(([, , , , point]) => point === escapePath(mountPoint))?.[2]
  if (device === undefined) throw new PoolError('missing', `Nothing is mounted at ${mountPoint}.`)
  return device
}

function isMounted(mounts: string, device: string, source: string): boolean {
  const escaped = escapePath(source)
  return linesOf(mounts).some(
    ([, , found, path]) => found === device && (path === escaped || path?.startsWith(`${escaped}/`)),
  )
}

/** The kernel writes these characters of a path as octal numbers. */
const escapePath = (path: string): string =>
  path.replace(/[ \t\n\\]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`)

/** The mounts of each mount namespace that a process is in. */
async function readAllMounts(): Promise<string[]> {
  const found = new Map<string, string>()
  for (const id of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const namespace = await ifReadable(readlink(`/proc/${id}/ns/mnt`))
    if (namespace === undefined || found.has(namespace)) continue
    const mounts = await ifReadable(readFile(`/proc/${id}/mountinfo`, 'utf8'))
    if (mounts !== undefined) found.set(namespace, mounts)
  }
  return [...found.values()]
}

async function ifReadable<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof Error && 'code' in error && SKIPPED.has(String(error.code))) return undefined
    throw error
  }
}

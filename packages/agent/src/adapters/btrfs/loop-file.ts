// The file of a pool that the agent creates, formats and mounts itself. Only a file that the agent just created is
// formatted: it gets its name after it has a file system, so an existing file is never overwritten.

import { mkdir, open, rename, rm, stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { PoolError } from '../../ports/volume-pool.ts'
import { ifExists, syncFolder } from '../../state/durable-file.ts'
import { onMachine } from '../kernel/machine-mounts.ts'
import type { Commands } from './commands.ts'
import { decodeSuperblock, SUPERBLOCK } from './decode-output.ts'
import { isMountPoint } from './files.ts'

const MOUNT_OPTIONS = 'loop,nodev,nosuid,noatime'
/** Allocation of 16 TiB on a slow disk, and the mount of a pool that has to replay its log. */
const LONG_MS = 600_000
/** The smallest size to which the kernel resizes a file system. */
const LEAST_GROWN = 256 * 1024 ** 2

/** The file system id of a pool's file; undefined if there is no file. */
export async function readLoopFile(path: string): Promise<string | undefined> {
  const file = await ifExists(open(path, 'r'))
  if (file === undefined) return undefined
  try {
    const bytes = Buffer.alloc(SUPERBLOCK.length)
    await file.read(bytes, 0, SUPERBLOCK.length, SUPERBLOCK.position)
    const id = decodeSuperblock(bytes)
    if (id !== undefined) return id
  } finally {
    await file.close()
  }
  throw new PoolError(
    'unsupported',
    `${path} exists and has no btrfs file system. The agent formats only files that it creates: move the file away or name another.`,
  )
}

/** Creates the file, allocated in full and formatted. An interrupted attempt leaves only a file beside it. */
export async function createLoopFile(commands: Commands, path: string, sizeBytes: number): Promise<void> {
  const beside = `${path}.holdfast-new`
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await rm(beside, { force: true })
  const file = await open(beside, 'wx', 0o600)
  try {
    await commands.run('fallocate', ['--length', String(sizeBytes), beside], LONG_MS)
    await commands.run('mkfs.btrfs', ['--quiet', beside], LONG_MS)
    await file.sync()
  } catch (error) {
    await rm(beside, { force: true })
    throw error
  } finally {
    await file.close()
  }
  await rename(beside, path)
  await syncFolder(dirname(path))
}

/** Mounts the file; does nothing if the mount point is in use, such as after a restart of the agent. */
export async function mountLoopFile(commands: Commands, path: string, mountPoint: string): Promise<void> {
  await mkdir(mountPoint, { recursive: true, mode: 0o700 })
  if (await isMountPoint(mountPoint)) return
  await commands.run(...onMachine('mount', ['-t', 'btrfs', '-o', MOUNT_OPTIONS, path, mountPoint]), LONG_MS)
}

/** Allocates a larger size. A file is never made smaller, because the file system in it uses all of it. */
export async function growLoopFile(commands: Commands, path: string, sizeBytes: number): Promise<void> {
  const { size } = await stat(path)
  if (size > sizeBytes)
    throw new PoolError(
      'unsupported',
      `${path} has ${size} bytes, and --pool demands ${sizeBytes}. A pool cannot become smaller: name at least its present size.`,
    )
  if (size === sizeBytes) return
  if (sizeBytes < LEAST_GROWN)
    throw new PoolError(
      'unsupported',
      `${path} has ${size} bytes, and --pool demands ${sizeBytes}. The kernel grows a file system to 256Mi or more only: name such a size, or the present one.`,
    )
  await commands.run('fallocate', ['--length', String(sizeBytes), path], LONG_MS)
}

/** Makes the mounted file system as large as its file. Does nothing if it is, such as at most starts. */
export async function growFileSystem(commands: Commands, path: string, mountPoint: string): Promise<void> {
  const { bsize, blocks } = await statfs(mountPoint)
  const unused = (await stat(path)).size - bsize * blocks
  if (unused < bsize) return
  const devices = await commands.run('losetup', ['--noheadings', '--output', 'NAME', '--associated', path])
  for (const device of devices.split('\n').filter(Boolean))
    await commands.run('losetup', ['--set-capacity', device.trim()])
  await commands.run('btrfs', ['filesystem', 'resize', 'max', mountPoint], LONG_MS)
}

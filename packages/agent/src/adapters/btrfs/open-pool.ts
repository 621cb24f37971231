// Opens the pool of a node: creates and mounts it if it is a file, checks that it is the pool this node had before, enables
// quotas, and removes the leftovers of an agent that died.

import { mkdir, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { PoolSource } from '../../ports/pool-source.ts'
import {
  MOUNT_POINTS,
  PoolError,
  type PoolFacts,
  type PoolOwner,
  type VolumePool,
} from '../../ports/volume-pool.ts'
import { createCheckpoints, removeEmptyFolders } from './checkpoints.ts'
import { type Commands, systemCommands } from './commands.ts'
import { decodeFileSystemId } from './decode-output.ts'
import { isMountPoint } from './files.ts'
import { createLoopFile, growFileSystem, growLoopFile, mountLoopFile, readLoopFile } from './loop-file.ts'
import { createNotes } from './notes.ts'
import {
  adoptPool,
  claimPool,
  type RememberedPool,
  readRemembered,
  requireFileSystem,
  requirePool,
} from './pool-identity.ts'
import { createPoolTree, FOLDERS } from './pool-tree.ts'
import { createQuotas } from './quotas.ts'
import { createReceiver } from './receive.ts'
import { createVolumes } from './volumes.ts'

/** The type of the file system in `statfs`. */
const BTRFS = 0x9123683e

export async function openBtrfsPool(
  source: PoolSource,
  stateFolder: string,
  commands: Commands = systemCommands,
  owner?: PoolOwner,
): Promise<VolumePool> {
  const before = await readRemembered(stateFolder)
  const root = await openRoot(commands, source, stateFolder, before)
  const fileSystemId = await mountedFileSystem(commands, root)
  requireFileSystem(before, fileSystemId, root)
  if (before !== undefined) await requirePool(before, root)
  const remembered = before ?? (await adoptPool(stateFolder, root, fileSystemId))
  const mark = await requirePool(remembered, root)

  for (const folder of Object.values(FOLDERS))
    await mkdir(join(root, folder), { recursive: true, mode: 0o700 })
  const quotas = createQuotas(commands, root, fileSystemId)
  await quotas.enable()
  const tree = createPoolTree(commands, root)
  await tree.removeAll(FOLDERS.incoming)
  await removeEmptyFolders(tree)
  const mounts = join(stateFolder, MOUNT_POINTS)
  await mkdir(mounts, { recursive: true, mode: 0o700 })
  const { wipe, ...volumes } = createVolumes({ commands, tree, quotas, mounts })
  const isEmpty = async (): Promise<boolean> => (await tree.list()).length === 0
  if (owner !== undefined) await claimPool({ root, fileSystemId, isEmpty, wipe }, mark, owner)
  await volumes.sealQuarantine()
  return {
    inspect: () => inspect(source, root, remembered),
    flush: tree.flush,
    ...volumes,
    ...createCheckpoints(commands, tree),
    ...createReceiver(commands, tree),
    ...createNotes(tree),
  }
}

/** The folder in which the pool's subvolumes are: the path itself, or the mount point of the file. */
async function openRoot(
  commands: Commands,
  { path, sizeBytes }: PoolSource,
  stateFolder: string,
  remembered: RememberedPool | undefined,
): Promise<string> {
  if (sizeBytes === undefined) {
    await requireMounted(path, remembered)
    return path
  }
  const found = await readLoopFile(path)
  if (found !== undefined) {
    requireFileSystem(remembered, found, path)
    await growLoopFile(commands, path, sizeBytes)
  } else if (remembered !== undefined) throw missing(path)
  else await createLoopFile(commands, path, sizeBytes)
  const mountPoint = join(stateFolder, 'pool')
  await mountLoopFile(commands, path, mountPoint)
  await requireMounted(mountPoint, remembered)
  await growFileSystem(commands, path, mountPoint)
  return mountPoint
}

const missing = (path: string): PoolError =>
  new PoolError(
    'missing',
    `${path} is absent, but this node had a pool there. Restore it; the agent creates no other.`,
  )

async function requireMounted(path: string, remembered: RememberedPool | undefined): Promise<void> {
  if ((await isMountPoint(path)) && (await statfs(path)).type === BTRFS) return
  if (remembered !== undefined) throw missing(path)
  throw new PoolError('unsupported', `${path} is not the mount point of a btrfs file system.`)
}

async function mountedFileSystem(commands: Commands, root: string): Promise<string> {
  return decodeFileSystemId(await commands.run('btrfs', ['filesystem', 'show', '--raw', root]))
}

async function inspect(source: PoolSource, root: string, remembered: RememberedPool): Promise<PoolFacts> {
  const { path, sizeBytes } = source
  await requireMounted(root, remembered)
  const { wiped } = await requirePool(remembered, root)
  if (sizeBytes !== undefined) {
    // The mounted pool works without its file's name, but the next boot would not find it.
    const found = await readLoopFile(path)
    if (found === undefined) throw missing(path)
    requireFileSystem(remembered, found, path)
  }
  // Free blocks include those that only metadata may use: a pool can refuse every write while more than half is free.
  const { bsize, blocks, bavail } = await statfs(root)
  return {
    fileSystemId: remembered.fileSystemId,
    poolBytes: bsize * blocks,
    usedBytes: bsize * (blocks - bavail),
    ...(wiped !== undefined && { wiped }),
  }
}

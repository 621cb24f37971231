// The live volumes of a pool: one subvolume, one quota group and one mount point each. Every step can be repeated, so an
// agent that died between two commands converges by calling the same operation again.

import { lstat, mkdir, readdir, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type PoolContents, PoolError, type VolumeFacts, type VolumePool } from '../../ports/volume-pool.ts'
import { ifExists } from '../../state/durable-file.ts'
import { onMachine } from '../kernel/machine-mounts.ts'
import { openArchive } from './archive.ts'
import { listCheckpoints } from './checkpoints.ts'
import type { Commands } from './commands.ts'
import { deviceOf, isMountPoint } from './files.ts'
import { FOLDERS, type ListedSubvolume, type PoolTree, requireName } from './pool-tree.ts'
import { createQuarantine } from './quarantine.ts'
import type { Quota, Quotas } from './quotas.ts'
import { requireUnused } from './volume-users.ts'

const MOUNT_OPTIONS = 'nodev,nosuid,noatime'
const UNKNOWN: Quota = { limitBytes: undefined, usedBytes: undefined }

interface VolumeDeps {
  readonly commands: Commands
  readonly tree: PoolTree
  readonly quotas: Quotas
  /** The folder of the mount points. */
  readonly mounts: string
}

/** The folders that hold data of volumes. */
const DATA = [FOLDERS.volumes, FOLDERS.checkpoints, FOLDERS.incoming, FOLDERS.quarantine] as const
/** Creates a subvolume that every user of a container can enter, whatever the umask of the agent is. */
const CREATE = 'umask 022 && exec btrfs subvolume create "$1"'

type Volumes = Pick<
  VolumePool,
  | 'list'
  | 'provision'
  | 'remove'
  | 'retire'
  | 'countNested'
  | 'quarantine'
  | 'listQuarantined'
  | 'removeQuarantined'
  | 'readQuarantined'
> & {
  /** Deletes the data and notes of all volumes, mounted or not. Rejects with `busy` while a container uses any of it. */
  wipe(): Promise<void>
  /** Ends an interrupted quarantine. */
  sealQuarantine(): Promise<void>
}

export function createVolumes(deps: VolumeDeps): Volumes {
  const { commands, tree, quotas } = deps
  const placeOf = (volume: string): string => tree.at(FOLDERS.volumes, requireName(volume))
  const mountPointOf = (volume: string): string => join(deps.mounts, requireName(volume))
  const takeOut = async (volume: string): Promise<void> => {
    const mountPoint = mountPointOf(volume)
    await unmount(commands, mountPoint)
    await ifExists(rmdir(mountPoint))
    await requireUnused(tree, join(FOLDERS.volumes, volume))
  }
  const quarantine = createQuarantine(commands, tree, quotas)
  return {
    listQuarantined: quarantine.list,
    removeQuarantined: quarantine.remove,
    readQuarantined: (volume, epoch) => openArchive(commands, tree, volume, epoch),
    sealQuarantine: quarantine.seal,
    async quarantine(volume, epoch, parts) {
      await takeOut(volume)
      await quarantine.add(requireName(volume), epoch, parts)
    },
    list: () => listContents(tree, quotas, mountPointOf),
    async provision(volume, limitBytes) {
      const [place, mountPoint] = [placeOf(volume), mountPointOf(volume)]
      const exists = (await ifExists(lstat(place))) !== undefined
      if (!exists) await commands.run('sh', ['-c', CREATE, 'sh', place])
      await quotas.setLimit(place, limitBytes)
      await mountVolume(commands, place, mountPoint)
      return mountPoint
    },
    async remove(volume) {
      await takeOut(volume)
      const folders = [FOLDERS.checkpoints, FOLDERS.quarantine].map((folder) => join(folder, volume))
      await tree.deleteBelow(join(FOLDERS.volumes, volume), ...folders)
      for (const folder of folders) await rm(tree.at(folder), { recursive: true, force: true })
      await tree.flush()
    },
    async wipe() {
      for (const name of await readdir(deps.mounts)) {
        await unmount(commands, join(deps.mounts, name))
        await rmdir(join(deps.mounts, name))
      }
      for (const folder of DATA) await requireUnused(tree, folder)
      await tree.deleteBelow(...DATA)
      for (const folder of [...DATA, FOLDERS.notes]) await emptyFolder(tree.at(folder))
      await tree.flush()
      if ((await tree.list()).length > 0) throw new PoolError('failed', 'The pool still has subvolumes.')
    },
    async retire(volume) {
      await takeOut(volume)
      await tree.deleteBelow(join(FOLDERS.volumes, volume))
      await tree.flush()
    },
    async countNested(volume) {
      const own = 1
      const ids = await tree.idsBelow(join(FOLDERS.volumes, requireName(volume)))
      if (ids.length === 0) throw new PoolError('failed', `The pool has no volume ${volume}.`)
      return ids.length - own
    },
  }
}

async function emptyFolder(path: string): Promise<void> {
  for (const name of await readdir(path)) await rm(join(path, name), { recursive: true, force: true })
}

async function mountVolume(commands: Commands, place: string, mountPoint: string): Promise<void> {
  await mkdir(mountPoint, { recursive: true, mode: 0o700 })
  if ((await deviceOf(mountPoint)) === (await deviceOf(place))) return
  // The mount of an earlier volume of this name.
  await unmount(commands, mountPoint)
  await commands.run(...onMachine('mount', ['--bind', '-o', MOUNT_OPTIONS, place, mountPoint]))
}

async function unmount(commands: Commands, mountPoint: string): Promise<void> {
  while (await isMountPoint(mountPoint)) await commands.run(...onMachine('umount', [mountPoint]))
}

async function listContents(
  tree: PoolTree,
  quotas: Quotas,
  mountPointOf: (volume: string) => string,
): Promise<PoolContents> {
  const subvolumes = await tree.list()
  const quotaOf = await quotas.read(subvolumes.map(({ id }) => id))
  const live = subvolumes.filter(({ path }) => path.startsWith(`${FOLDERS.volumes}/`))
  const describe = async ({ id, path, generation }: ListedSubvolume): Promise<VolumeFacts> => {
    const { limitBytes, usedBytes } = quotaOf.get(id) ?? UNKNOWN
    const volume = path.slice(FOLDERS.volumes.length + 1)
    const mountPoint = mountPointOf(volume)
    const isMounted = (await deviceOf(mountPoint)) === (await deviceOf(tree.at(path)))
    return { volume, generation, limitBytes, usedBytes, mountPoint: isMounted ? mountPoint : undefined }
  }
  const usedBytesOf = (id: number): number | undefined => quotaOf.get(id)?.usedBytes
  return {
    volumes: await Promise.all(live.map(describe)),
    checkpoints: listCheckpoints(subvolumes, usedBytesOf),
  }
}

// Checkpoints of volumes: read-only snapshots that are taken, listed, restored, sent and removed.

import { lstat, mkdir, readdir, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { VolumeCheckpoint } from '@holdfast/contract'
import type { CheckpointFacts, VolumePool } from '../../ports/volume-pool.ts'
import { ifExists } from '../../state/durable-file.ts'
import type { Commands } from './commands.ts'
import { FOLDERS, type ListedSubvolume, type PoolTree, requireName } from './pool-tree.ts'
import { sendStream } from './transfer.ts'

const PLACE = new RegExp(`^${FOLDERS.checkpoints}/([^/]+)/((\\d{1,15})\\.(\\d{1,15}))/\\2$`)

export const nameOf = ({ epoch, number }: VolumeCheckpoint): string => {
  if (!Number.isSafeInteger(epoch) || !Number.isSafeInteger(number) || epoch < 0 || number < 0)
    throw new TypeError('Epoch and number of a checkpoint are whole numbers.')
  return `${epoch}.${number}`
}

/** The folder of a checkpoint; the snapshot in it has the same name. */
export const folderOf = (volume: string, checkpoint: VolumeCheckpoint): string =>
  join(FOLDERS.checkpoints, requireName(volume), nameOf(checkpoint))

export function createCheckpoints(
  commands: Commands,
  tree: PoolTree,
): Pick<VolumePool, 'takeCheckpoint' | 'removeCheckpoint' | 'restore' | 'send'> {
  const liveOf = (volume: string): string => tree.at(FOLDERS.volumes, requireName(volume))
  const placeOf = (volume: string, checkpoint: VolumeCheckpoint): string =>
    tree.at(folderOf(volume, checkpoint), nameOf(checkpoint))
  const isPresent = async (path: string): Promise<boolean> => (await ifExists(lstat(path))) !== undefined
  return {
    async takeCheckpoint(volume, checkpoint) {
      const place = placeOf(volume, checkpoint)
      if (await isPresent(place)) return
      await mkdir(tree.at(folderOf(volume, checkpoint)), { recursive: true, mode: 0o700 })
      await commands.run('btrfs', ['subvolume', 'snapshot', '-r', liveOf(volume), place])
    },
    async removeCheckpoint(volume, checkpoint) {
      const place = placeOf(volume, checkpoint)
      if (await isPresent(place)) await commands.run('btrfs', ['subvolume', 'delete', place])
      await ifExists(rmdir(tree.at(folderOf(volume, checkpoint))))
    },
    async restore(volume, checkpoint) {
      await commands.run('btrfs', ['subvolume', 'snapshot', placeOf(volume, checkpoint), liveOf(volume)])
    },
    send(volume, checkpoint, base) {
      const parent = base === undefined ? [] : ['-p', placeOf(volume, base)]
      return sendStream(commands.start('btrfs', ['send', '-q', ...parent, placeOf(volume, checkpoint)]))
    },
  }
}

/** Removes the folders without a snapshot that an agent has left which died while it took or removed a checkpoint. */
export async function removeEmptyFolders(tree: PoolTree): Promise<void> {
  for (const volume of await readdir(tree.at(FOLDERS.checkpoints))) {
    const ofVolume = tree.at(FOLDERS.checkpoints, volume)
    for (const name of await readdir(ofVolume)) await ifEmpty(rmdir(join(ofVolume, name)))
    await ifEmpty(rmdir(ofVolume))
  }
}

async function ifEmpty(removing: Promise<void>): Promise<void> {
  try {
    await removing
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOTEMPTY')) throw error
  }
}

/** The complete checkpoints among the subvolumes: a snapshot that is writable is none. */
export function listCheckpoints(
  subvolumes: readonly ListedSubvolume[],
  usedBytesOf: (id: number) => number | undefined,
): CheckpointFacts[] {
  return subvolumes.flatMap(({ id, path, isReadOnly, receivedUuid, generation }) => {
    const [, volume, , epoch, number] = PLACE.exec(path) ?? []
    if (volume === undefined || !isReadOnly) return []
    const origin = receivedUuid === undefined ? 'taken' : 'received'
    const checkpoint = { epoch: Number(epoch), number: Number(number) }
    return [{ volume, ...checkpoint, origin, generation, usedBytes: usedBytesOf(id) }]
  })
}

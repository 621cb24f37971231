// Reads quarantined data of a pool as a tar archive.

import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { compareCheckpoints } from '@holdfast/core/node'
import type { CheckpointStream } from '../../ports/volume-pool.ts'
import { ifExists } from '../../state/durable-file.ts'
import type { Commands } from './commands.ts'
import { FOLDERS, LIVE, type PoolTree, QUARANTINE_NAME, requireName } from './pool-tree.ts'
import { sendStream } from './transfer.ts'

const CHECKPOINT = /^(\d{1,15})\.(\d{1,15})$/
/**
 * Arguments of GNU tar. It follows no symbolic link, stores holes as holes, reads neither devices nor pipes, and descends
 * into subvolumes that a container created inside the volume. Times that only reading could change are left out.
 */
const TAR = [
  ...['--create', '--file=-', '--format=pax', '--pax-option=delete=atime,delete=ctime'],
  ...['--sparse', '--xattrs', '--numeric-owner', '--sort=name'],
]

/** Opens the archive of all quarantined data of an epoch; undefined if there is none. */
export async function openArchive(
  commands: Commands,
  tree: PoolTree,
  volume: string,
  epoch: number,
): Promise<CheckpointStream | undefined> {
  const folder = tree.at(FOLDERS.quarantine, requireName(volume))
  const names = (await namesIn(folder)).filter((name) => QUARANTINE_NAME.exec(name)?.[1] === `${epoch}`)
  const found = await Promise.all(names.map((name) => contentOf(folder, name)))
  const contents = found.flatMap((content) => content ?? [])
  const [first] = contents
  if (first === undefined) return undefined
  // The content of a single state is at the top of the archive; several are below their names.
  const what =
    contents.length === 1
      ? ['--directory', join(folder, first), '--', '.']
      : ['--directory', folder, '--', ...contents]
  return sendStream(commands.start('tar', [...TAR, ...what]))
}

const namesIn = async (folder: string): Promise<string[]> => (await ifExists(readdir(folder))) ?? []

/** The folder with the content of quarantined data: the data of the primary, or the newest checkpoint of a copy. */
async function contentOf(folder: string, name: string): Promise<string | undefined> {
  if ((await ifExists(lstat(join(folder, name, LIVE)))) !== undefined) return join(name, LIVE)
  const checkpoints = await namesIn(join(folder, name, FOLDERS.checkpoints))
  const newest = checkpoints.flatMap(checkpointOf).toSorted(compareCheckpoints).at(-1)
  if (newest === undefined) return undefined
  const checkpoint = `${newest.epoch}.${newest.number}`
  return join(name, FOLDERS.checkpoints, checkpoint, checkpoint)
}

function checkpointOf(name: string): { epoch: number; number: number }[] {
  const [, epoch, number] = CHECKPOINT.exec(name) ?? []
  return epoch === undefined ? [] : [{ epoch: Number(epoch), number: Number(number) }]
}

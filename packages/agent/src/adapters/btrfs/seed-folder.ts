// Makes the content of an image the content of an empty volume, in steps that can be interrupted at any point. The content
// is copied into a folder inside the volume. Only when it is complete and on disk, the folder is renamed, and its entries
// are moved to their places. No writer runs during these steps, so nothing else changes the volume.
//
//   .holdfast-seed/content    an incomplete copy, which is dropped
//   .holdfast-seed/complete   a complete copy, whose entries are being moved

import { chmod, chown, lstat, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { HostVolumes } from '../../ports/host-volumes.ts'
import { ifExists } from '../../state/durable-file.ts'
import { type Commands, systemCommands } from './commands.ts'

const SEED = '.holdfast-seed'
const PERMISSIONS = 0o7777

export const createSeedFolder = (
  commands: Commands = systemCommands,
): Pick<HostVolumes, 'openSeed' | 'finishSeed'> => ({
  async openSeed(path) {
    await endInterrupted(path)
    if ((await readdir(path)).length > 0) return undefined
    const content = join(path, SEED, 'content')
    await mkdir(content, { recursive: true, mode: 0o700 })
    // The copy changes owner and permissions of the folder only if the image has one.
    await copyOwner(path, content)
    return content
  },
  async finishSeed(path) {
    await commands.run('sync', ['--file-system', path])
    await rename(join(path, SEED, 'content'), join(path, SEED, 'complete'))
    await moveContent(path)
  },
})

async function endInterrupted(path: string): Promise<void> {
  if (!(await isFolder(join(path, SEED)))) return
  if (await isFolder(join(path, SEED, 'complete'))) return moveContent(path)
  // A volume with other content was never copied into: the folder belongs to its owner.
  if ((await readdir(path)).length === 1) await rm(join(path, SEED), { recursive: true })
}

async function moveContent(path: string): Promise<void> {
  const complete = join(path, SEED, 'complete')
  await copyOwner(complete, path)
  for (const name of await readdir(complete)) {
    const place = join(path, name)
    if ((await ifExists(lstat(place))) === undefined) await rename(join(complete, name), place)
  }
  await rm(join(path, SEED), { recursive: true })
}

async function copyOwner(from: string, to: string): Promise<void> {
  const { uid, gid, mode } = await lstat(from)
  await chown(to, uid, gid)
  await chmod(to, mode & PERMISSIONS)
}

/** Whether the path is a folder. A link is none: the content of a volume may not lead out of it. */
const isFolder = async (path: string): Promise<boolean> =>
  (await ifExists(lstat(path)))?.isDirectory() ?? false

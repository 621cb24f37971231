// Pools on loop files for tests: opened through the adapter, unmounted and removed at the end, and commands that stop as
// if the agent had been killed.

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeTempFolder, type TempFolder } from '@holdfast/testkit'
import { runCommand } from '@holdfast/testkit/run-command'
import type { PoolOwner, VolumePool } from '../../ports/volume-pool.ts'
import { type Commands, systemCommands } from './commands.ts'
import { openBtrfsPool } from './open-pool.ts'

export const MIB = 1024 ** 2
/** For tests of hundreds of commands, which take several times longer on a loaded machine. */
export const LONG = { timeout: 180_000 }

export interface TestPool {
  readonly folder: string
  /** The file that holds the pool. */
  readonly file: string
  /** The mount point of the pool. */
  readonly root: string
  readonly pool: VolumePool
  /** Opens the pool again, as a restarted agent does; with an owner, as an agent of this tenant. */
  open(commands?: Commands, owner?: PoolOwner): Promise<VolumePool>
  remove(): void
}

export async function startPool(sizeBytes = 256 * MIB): Promise<TestPool> {
  const folder = makeTempFolder('pool')
  const file = join(folder.path, 'pool.img')
  const open = (commands?: Commands, owner?: PoolOwner): Promise<VolumePool> =>
    openBtrfsPool({ path: file, sizeBytes }, folder.path, commands, owner)
  const root = join(folder.path, 'pool')
  return { folder: folder.path, file, root, pool: await open(), open, remove: () => removePool(folder) }
}

/** Unmounts everything below the folder, the newest mount first, and removes the folder. */
export function unmountBelow(folder: string): void {
  const points = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .filter((point) => point.startsWith(`${folder}/`))
  for (const point of points.toReversed()) runCommand('umount', [point])
}

export function removePool(folder: TempFolder): void {
  unmountBelow(folder.path)
  folder.remove()
}

export class Killed extends Error {}

/** Commands of an agent that is killed after a number of commands. */
export function commandsUntil(count: number): Commands {
  let left = count
  const use = (): void => {
    if (left <= 0) throw new Killed()
    left -= 1
  }
  return {
    async run(...args) {
      use()
      return systemCommands.run(...args)
    },
    start(...args) {
      use()
      return systemCommands.start(...args)
    },
  }
}

/** SHA-256 of every file below a folder. */
export function checksums(folder: string): { [path: string]: string } {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  const paths = files.map(({ parentPath, name }) => join(parentPath, name)).toSorted()
  return Object.fromEntries(
    paths.map((path) => [
      path.slice(folder.length),
      createHash('sha256').update(readFileSync(path)).digest('hex'),
    ]),
  )
}

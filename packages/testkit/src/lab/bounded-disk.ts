// Lab nodes whose disk is small: a file system of its own for the engine, the router and the state of the agent, which a
// test can fill up.

import { closeSync, existsSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { engineBinary } from '../engines/engine-binaries.ts'
import { runCommand } from '../run-command.ts'
import { formatDisk, mountDisk, untilReleased } from './lab-disks.ts'
import type { LabPlace } from './lab-place.ts'

/** The folder of the disk on a node. The engine keeps its images and containers in it. */
export const boundedFolder = ({ folder }: Pick<LabPlace, 'folder'>): string => join(folder, 'lib')

/** Mounts the disk of a node, which is created at the node's first start. */
export async function attachBounded(place: LabPlace, bytes: number): Promise<void> {
  const image = `${place.folder}.img`
  const folder = boundedFolder(place)
  mkdirSync(folder, { recursive: true })
  if (!existsSync(image)) formatDisk(image, bytes)
  await untilReleased(image, folder)
  mountDisk(image, folder)
}

const FILLER = 'filler'
const BLOCK = Buffer.alloc(4_096)

/** Fills the disk of the folder up to its last block. */
export function fillDisk(folder: string): void {
  const { bavail, bsize } = statfsSync(folder)
  const file = join(folder, FILLER)
  runCommand(engineBinary('fallocate'), ['--length', String(Math.floor(bavail * bsize * NEARLY)), file])
  fillUp(file)
}

/** The last blocks are written, because allocating more than there is allocates nothing. */
const NEARLY = 0.99

export const freeDisk = (folder: string): void => rmSync(join(folder, FILLER))

/** Appends to the file until its disk is full. */
export function fillUp(file: string): void {
  const descriptor = openSync(file, 'a')
  try {
    for (;;) writeSync(descriptor, BLOCK)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
  } finally {
    closeSync(descriptor)
  }
}

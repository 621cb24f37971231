// Disks of lab nodes that lose unsynced data at a power cut. Each disk is an ext4 image on a btrfs of the lab. At the cut
// the image is cloned, and the node boots from the clone: pages that were only in memory are lost, also those of a pool's
// file that the file system in the pool has written and not flushed.

import {
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { engineBinary } from '../engines/engine-binaries.ts'
import { runCommand } from '../run-command.ts'
import { waitUntil } from '../wait-until.ts'
import type { LabPlace } from './lab-place.ts'
import type { LabSlot } from './lab-slot.ts'

export interface LabDisks {
  folderOf(place: LabPlace): string
  /** Mounts the node's disk. Waits until the disk of before the cut is released, so that no file system exists twice. */
  attach(place: LabPlace): Promise<void>
  /** Clones the disk as it is. Nothing that is written to it afterwards is kept. */
  cut(place: LabPlace): void
  /** Replaces the disk by the clone. The old disk must not be mounted any longer. */
  replace(place: LabPlace): void
}

/** The images are sparse. */
const DISK_BYTES = 32 * 1024 ** 3
const ALL_BYTES = 256 * 1024 ** 3

/** The kernel's CLOCK_BOOTTIME, which all nodes of a lab share. Its resolution is 10 ms. */
export const bootClockMs = (): number =>
  Math.round(Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 1000)

export function makeDisks(slot: LabSlot): LabDisks {
  const root = join(slot.folder, 'disks')
  mkdirSync(root)
  makeFile(`${root}.img`, ALL_BYTES)
  runCommand(engineBinary('mkfs.btrfs'), ['--quiet', `${root}.img`])
  // The lab itself survives no crash of this machine, so its own file system needs no barriers.
  mountDisk(`${root}.img`, root, 'nobarrier')
  const imageOf = ({ index }: LabPlace): string => join(root, `n${index}.img`)
  const cloneOf = (place: LabPlace): string => `${imageOf(place)}.clone`
  const folderOf = ({ folder }: LabPlace): string => join(folder, 'disk')
  return {
    folderOf,
    attach: async (place) => {
      mkdirSync(folderOf(place), { recursive: true })
      if (!existsSync(imageOf(place))) formatDisk(imageOf(place), DISK_BYTES)
      await untilReleased(imageOf(place), folderOf(place))
      mountDisk(imageOf(place), folderOf(place))
    },
    cut: (place) => copyFileSync(imageOf(place), cloneOf(place), constants.COPYFILE_FICLONE_FORCE),
    replace: (place) => renameSync(cloneOf(place), imageOf(place)),
  }
}

/** Makes a sparse image with an ext4 file system. */
export function formatDisk(image: string, bytes: number): void {
  makeFile(image, bytes)
  runCommand(engineBinary('mkfs.ext4'), ['-q', '-m', '0', image])
}

function makeFile(path: string, bytes: number): void {
  writeFileSync(path, '')
  truncateSync(path, bytes)
}

export function mountDisk(image: string, folder: string, ...options: string[]): void {
  runCommand(engineBinary('mount'), ['-o', ['loop', 'noatime', ...options].join(), image, folder])
}

/** A detached mount exists until the kernel has ended its last user, and then writes what it still has in memory. */
export async function untilReleased(image: string, folder: string): Promise<void> {
  const isReleased = (): boolean => {
    const files = runCommand(engineBinary('losetup'), ['--list', '--noheadings', '--output', 'BACK-FILE'])
    return !files.split('\n').some((line) => line.startsWith(image) || line.startsWith(`${folder}/`))
  }
  await waitUntil(isReleased, { what: `the old disk at ${folder} is released`, timeoutMs: 30_000 })
}

// A small file system that can be filled to the last byte and emptied again. Needs root.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { engineBinary } from '@holdfast/testkit'
import { fillUp } from '@holdfast/testkit/lab/bounded-disk'

export interface TinyDisk {
  readonly path: string
  /** Fills the disk. Existing files may still grow by the unused part of their last page. */
  fill(): void
  makeRoom(): void
  remove(): void
}

export function mountTinyDisk(kibibytes: number): TinyDisk {
  // The folder's name does not match the cleanup of temporary folders, because a mount point cannot be removed like a
  // folder.
  const path = mkdtempSync(join(tmpdir(), 'tiny-disk-'))
  execFileSync(engineBinary('mount'), ['-t', 'tmpfs', '-o', `size=${kibibytes}k`, 'tmpfs', path])
  const filler = join(path, 'filler')
  const remove = (): void => {
    process.off('exit', remove)
    // The file system is unmounted lazily, so that a process that still writes to it does not prevent the unmount.
    execFileSync(engineBinary('umount'), ['-l', path])
    rmdirSync(path)
  }
  process.once('exit', remove)
  return { path, remove, fill: () => fillUp(filler), makeRoom: () => rmSync(filler) }
}

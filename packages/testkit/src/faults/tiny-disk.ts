// A file system of some pages that can be filled to the last byte, and emptied again. As root, like the rest of the tests.

import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { engineBinary } from '@holdfast/testkit'

export interface TinyDisk {
  readonly path: string
  /** Of what is allocated already the last page may still have room. */
  fill(): void
  makeRoom(): void
  remove(): void
}

const BLOCK = Buffer.alloc(4_096)

export function mountTinyDisk(kibibytes: number): TinyDisk {
  // Not of the names that are swept: what is mounted cannot be removed like a folder.
  const path = mkdtempSync(join(tmpdir(), 'tiny-disk-'))
  execFileSync(engineBinary('mount'), ['-t', 'tmpfs', '-o', `size=${kibibytes}k`, 'tmpfs', path])
  const filler = join(path, 'filler')
  const remove = (): void => {
    process.off('exit', remove)
    // Lazily: whoever still writes there does not keep it.
    execFileSync(engineBinary('umount'), ['-l', path])
    rmdirSync(path)
  }
  process.once('exit', remove)
  return { path, remove, fill: () => fillUp(filler), makeRoom: () => rmSync(filler) }
}

function fillUp(file: string): void {
  const descriptor = openSync(file, 'w')
  try {
    for (;;) writeSync(descriptor, BLOCK)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
  } finally {
    closeSync(descriptor)
  }
}

// A file that keeps a little space on a disk for writes that must not fail when the disk is full. The reserve is removed
// for such a write, and filled again as soon as there is space.

import { open, rm } from 'node:fs/promises'
import { isDiskFull } from './durable-file.ts'

/** Enough for a hundred small files, at a block and an inode each. */
const SHIPPED_BYTES = 512 * 1024
const BLOCK = Buffer.alloc(4096)

export interface DiskReserve {
  /** Runs a write. If the disk is full, removes the reserve and runs the write once more. */
  write(work: () => Promise<void>): Promise<void>
  /** Fills the reserve as far as the disk has space. Never rejects. */
  fill(): Promise<void>
}

export function openDiskReserve(path: string, bytes = SHIPPED_BYTES): DiskReserve {
  let isFull = false
  return {
    async write(work) {
      try {
        await work()
      } catch (error) {
        if (!isDiskFull(error)) throw error
        isFull = false
        await rm(path, { force: true })
        await work()
      }
    },
    async fill() {
      if (isFull) return
      // A disk without any space has no reserve, which changes nothing else.
      isFull = await fillUp(path, bytes).catch(() => false)
    },
  }
}

/** Grows the file to `bytes`. A file that the disk cuts short keeps the space that it got. */
async function fillUp(path: string, bytes: number): Promise<boolean> {
  const file = await open(path, 'a', 0o600)
  try {
    for (let size = (await file.stat()).size; size < bytes; size += BLOCK.length) await file.writeFile(BLOCK)
    // Some file systems assign the space only now.
    await file.sync()
    return true
  } finally {
    await file.close()
  }
}

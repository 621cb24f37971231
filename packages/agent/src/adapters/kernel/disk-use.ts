// Reads how full a file system is. Space that only the administrator may use is not free, as in `df`.

import { statfs } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { DiskReader } from '../../ports/disk.ts'

/** A file system that does not answer must not hold up the agent. */
const READ_MS = 5_000

export const createDiskReader = (): DiskReader => ({
  async use(folder) {
    const silent = delay(READ_MS, undefined, { ref: false }).then(() => {
      throw new Error(`The file system of ${folder} did not answer within ${READ_MS} ms.`)
    })
    const { bsize, blocks, bfree, bavail, files, ffree } = await Promise.race([statfs(folder), silent])
    return {
      totalBytes: bsize * (blocks - bfree + bavail),
      freeBytes: bsize * bavail,
      inodes: files,
      freeInodes: ffree,
    }
  },
})

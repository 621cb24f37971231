// The disk on which the engine keeps images and containers.

import type { DiskUse } from '@holdfast/contract'
import type { Logger } from 'pino'
import type { DiskReader } from '../ports/disk.ts'
import type { Engine } from '../ports/engine.ts'

interface EngineDiskDeps {
  readonly engine: Pick<Engine, 'rootFolder'>
  readonly disk: DiskReader
  readonly log: Logger
}

/** Reads the use of the engine's disk; undefined while it cannot be read, which is logged once. */
export function createEngineDisk({ engine, disk, log }: EngineDiskDeps): () => Promise<DiskUse | undefined> {
  let folder: string | undefined
  let isExplained = false
  return async () => {
    try {
      folder ??= await engine.rootFolder()
      const use = await disk.use(folder)
      isExplained = false
      return use
    } catch (error) {
      if (!isExplained)
        log.warn({ folder, message: String(error) }, 'disk of the engine cannot be read, no image is removed')
      isExplained = true
      return undefined
    }
  }
}

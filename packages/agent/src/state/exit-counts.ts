// Remembers how often containers exited that the agent restarts, because the engine counts only its own restarts. The file
// is in the state folder, so a restarted agent continues the counts.

import { join } from 'node:path'
import { decode, type Infer, integer, list, object, string } from '@holdfast/contract'
import type { Logger } from 'pino'
import { readIfExists, writeDurably } from './durable-file.ts'
import { createSaver } from './saver.ts'

const FILE = 'exit-counts.json'
/** The oldest counts are dropped: those of containers that are gone. */
const MAX_COUNTS = 256

const countShape = object({ containerId: string(), count: integer(), lastAt: string() })
const fileShape = object({ counts: list(countShape) })
type Count = Infer<typeof countShape>

export interface ExitCounts {
  of(containerId: string): Count | undefined
  /** Notes the number of exits of a container and the time of the last one. */
  note(containerId: string, count: number, lastAt: string): void
  forget(containerId: string): void
  /** Resolves when the counts are on disk, or could not be written. */
  settled(): Promise<void>
  close(): Promise<void>
}

export async function openExitCounts(folder: string, log: Logger): Promise<ExitCounts> {
  const path = join(folder, FILE)
  const counts = new Map((await readCounts(path, log)).map((one) => [one.containerId, one]))
  const { save, settled, close } = createSaver({
    write: () => writeDurably(path, JSON.stringify({ counts: [...counts.values()] })),
    onFailed: (error) => log.error({ message: String(error) }, 'exit counts write failed, retrying'),
    onSaved: () => log.info({}, 'exit counts written'),
  })
  return {
    of: (containerId) => counts.get(containerId),
    note(containerId, count, lastAt) {
      counts.delete(containerId)
      counts.set(containerId, { containerId, count, lastAt })
      const [oldest] = counts.keys()
      if (counts.size > MAX_COUNTS && oldest !== undefined) counts.delete(oldest)
      save()
    },
    forget(containerId) {
      if (counts.delete(containerId)) save()
    },
    settled,
    close,
  }
}

/** A file that cannot be read costs only the counts from before, so the agent starts without them. */
async function readCounts(path: string, log: Logger): Promise<readonly Count[]> {
  try {
    const text = await readIfExists(path)
    return text === undefined ? [] : decode(fileShape, JSON.parse(text)).counts
  } catch (error) {
    log.warn({ message: String(error) }, 'exit counts are unreadable, starting from zero')
    return []
  }
}

// Remembers the images that this agent pulled, and when they were last used: only these may be removed. The record is
// bounded. An image that drops out of it, or that an older agent pulled, stays until an operator removes it.
// See docs/design/disks.md#images

import { join } from 'node:path'
import { decode, integer, list, object, string } from '@holdfast/contract'
import type { PulledImage } from '@holdfast/core/node'
import type { Logger } from 'pino'
import { readIfExists, writeDurably } from '../state/durable-file.ts'
import { createSaver } from '../state/saver.ts'

const FILE = 'images.json'
export const MAX_IMAGES = 1000
/** The times on disk may be older than the true ones by this much, so that the file is rarely written. */
const STALE_MS = 3_600_000

const fileShape = object({
  images: list(object({ reference: string(), pulledMs: integer(), usedMs: integer() })),
})

export interface PullRecord {
  all(): readonly PulledImage[]
  /** Notes that this agent pulls the image. Called before the pull, so that a crash leaves no image without a note. */
  notePull(reference: string, nowMs: number): void
  /** Notes that the images are in use. Those that this agent did not pull are ignored. */
  noteUse(references: Iterable<string>, nowMs: number): void
  drop(reference: string): void
  /** Resolves when the record is on disk, or could not be written. */
  settled(): Promise<void>
  close(): Promise<void>
}

export async function openPullRecord(folder: string, log: Logger): Promise<PullRecord> {
  const path = join(folder, FILE)
  const images = new Map((await readRecord(path, log)).map((one) => [one.reference, one]))
  const savedUse = new Map([...images].map(([reference, { usedMs }]) => [reference, usedMs]))
  const saver = createSaver({
    async write() {
      const kept = [...images.values()]
      await writeDurably(path, JSON.stringify({ images: kept }))
      savedUse.clear()
      for (const { reference, usedMs } of kept) savedUse.set(reference, usedMs)
    },
    onFailed: (error) =>
      log.error({ message: String(error) }, 'record of pulled images write failed, retrying'),
    onSaved: () => log.info({}, 'record of pulled images written'),
  })
  const isStale = ({ reference, usedMs }: PulledImage): boolean =>
    usedMs - (savedUse.get(reference) ?? 0) >= STALE_MS
  return {
    all: () => [...images.values()],
    notePull(reference, nowMs) {
      images.set(reference, { reference, pulledMs: nowMs, usedMs: nowMs })
      if (images.size > MAX_IMAGES) images.delete(leastRecentlyUsed(images.values()))
      saver.save()
    },
    noteUse(references, nowMs) {
      for (const reference of references) {
        const known = images.get(reference)
        if (known !== undefined) images.set(reference, { ...known, usedMs: nowMs })
      }
      if ([...images.values()].some(isStale)) saver.save()
    },
    drop(reference) {
      if (images.delete(reference)) saver.save()
    },
    settled: saver.settled,
    close: saver.close,
  }
}

const leastRecentlyUsed = (images: Iterable<PulledImage>): string =>
  [...images].reduce((first, one) => (one.usedMs < first.usedMs ? one : first)).reference

/** A record that cannot be read costs disk space only: its images are never removed. */
async function readRecord(path: string, log: Logger): Promise<readonly PulledImage[]> {
  try {
    const text = await readIfExists(path)
    return text === undefined ? [] : decode(fileShape, JSON.parse(text)).images.slice(-MAX_IMAGES)
  } catch (error) {
    log.warn(
      { path, message: String(error) },
      'record of pulled images is unreadable, images that were pulled before are not removed',
    )
    return []
  }
}

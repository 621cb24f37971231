// Keeps images pulled that no container of this node uses yet: those of the writers that a promotion would start here. It is
// a precaution: an image that cannot be pulled is tried again later and fails nothing.

import type { Logger } from 'pino'
import type { Requisites } from '../converge/requisites.ts'
import type { Engine } from '../ports/engine.ts'
import { coalesce } from '../routing/coalesce.ts'

const CHECK_MS = 60_000

export interface ImageKeeper {
  /** Keeps exactly these images. */
  keep(images: readonly string[]): void
  kept(): readonly string[]
  close(): void
}

interface ImageDeps {
  readonly requisites: Pick<Requisites, 'ensureImage' | 'forget'>
  readonly engine: Pick<Engine, 'hasImage'>
  readonly log: Logger
}

export function createImageKeeper({ requisites, engine, log }: ImageDeps): ImageKeeper {
  const failed = new Set<string>()
  let kept: readonly string[] = []
  let isClosed = false

  async function ensure(image: string): Promise<void> {
    try {
      if (await engine.hasImage(image)) return
      // An image that was pulled once may have been removed since.
      requisites.forget(image)
      await requisites.ensureImage(image, () => {})
      failed.delete(image)
    } catch (error) {
      if (!failed.has(image)) log.warn({ image, message: String(error) }, 'image not pulled ahead')
      failed.add(image)
    }
  }
  const check = coalesce(async () => {
    // One at a time, so that pulls for containers that start now come first.
    for (const image of kept) if (!isClosed) await ensure(image)
  })
  const timer = setInterval(() => void check(), CHECK_MS).unref()
  return {
    keep(images) {
      const next = [...new Set(images)].toSorted()
      if (next.join() === kept.join()) return
      kept = next
      for (const image of failed) if (!kept.includes(image)) failed.delete(image)
      void check()
    },
    kept: () => kept,
    close() {
      isClosed = true
      clearInterval(timer)
    },
  }
}

// Removes images that this agent pulled and that nothing uses, when the engine's disk fills up. Images that others pulled
// are never touched. The decision is in core; the engine's refusal because of a container is the last guard.
// See docs/design/disks.md#images

import type { DiskUse } from '@holdfast/contract'
import { isCleaning, nextImage, URGENT_PERCENT, usedPercent } from '@holdfast/core/node'
import type { Logger } from 'pino'
import type { Engine } from '../ports/engine.ts'
import { coalesce } from '../routing/coalesce.ts'
import type { PullRecord } from './pull-record.ts'

const CHECK_MS = 60_000
/** The most images that one check removes, so that the engine is not busy with removals only. */
const MAX_REMOVALS = 50

export interface CollectorDeps {
  readonly engine: Pick<Engine, 'listContainers' | 'findImage' | 'removeImage'>
  readonly record: Pick<PullRecord, 'all' | 'noteUse' | 'drop'>
  /** The images of all assignments and those that are kept for later; undefined until the desired set is known. */
  usedImages(): ReadonlySet<string> | undefined
  /** The disk of the engine; undefined if it cannot be read. */
  readDisk(): Promise<DiskUse | undefined>
  /** Called after an image was removed. */
  onRemoved(reference: string): void
  now(): number
  readonly checkMs?: number | undefined
  readonly log: Logger
}

export interface ImageCollector {
  /** Checks the disk now and removes what is due. Never rejects. */
  check(): Promise<void>
  close(): void
}

export function startImageCollector(deps: CollectorDeps): ImageCollector {
  const { record, usedImages, readDisk, now, log } = deps
  let wasCleaning = false
  let isExplained = false
  let isClosed = false

  async function measure(): Promise<number | undefined> {
    const use = await readDisk()
    if (use === undefined) return undefined
    const percent = usedPercent(use)
    wasCleaning = isCleaning(wasCleaning, percent)
    return percent
  }
  /** Logs once that the disk stays nearly full: what occupies it is not for the agent to remove. */
  function explain(percent: number): void {
    const isFull = percent > URGENT_PERCENT
    if (isFull && !isExplained)
      log.warn(
        { usedPercent: Math.round(percent) },
        'disk of the engine is nearly full and no image may be removed',
      )
    isExplained = isFull
  }
  async function collect(): Promise<void> {
    const used = usedImages()
    if (used === undefined) return
    record.noteUse(used, now())
    const first = await measure()
    if (first === undefined || !wasCleaning) return
    let percent: number = first
    const kept = await readContainerImages(deps)
    for (let left = MAX_REMOVALS; left > 0 && !isClosed; left -= 1) {
      const isUsed = (one: string): boolean => kept.references.has(one) || usedImages()?.has(one) !== false
      const facts = {
        nowMs: now(),
        usedPercent: percent,
        isCleaning: wasCleaning,
        pulled: record.all(),
        isUsed,
      }
      const next = nextImage(facts)
      if (next === undefined) return explain(percent)
      if (!(await remove(deps, next.reference, kept))) continue
      const before: number = percent
      percent = (await measure()) ?? before
      log.info(
        { image: next.reference, usedPercent: [before, percent].map(Math.round) },
        'unused image removed',
      )
    }
  }
  const check = coalesce(() =>
    collect().catch((error: unknown) =>
      log.warn({ message: String(error) }, 'unused images not removed, retrying'),
    ),
  )
  const timer = setInterval(() => void check(), deps.checkMs ?? CHECK_MS).unref()
  return {
    check,
    close() {
      isClosed = true
      clearInterval(timer)
    },
  }
}

/** The images of all containers on the machine, also of those that Holdfast did not create. */
interface ContainerImages {
  readonly ids: ReadonlySet<string>
  /** References that are in use, or that failed during this check. */
  readonly references: Set<string>
}

async function readContainerImages({ engine }: CollectorDeps): Promise<ContainerImages> {
  const listed = await engine.listContainers()
  return {
    ids: new Set(listed.flatMap(({ imageId }) => imageId ?? [])),
    references: new Set(listed.map(({ image }) => image)),
  }
}

/** Removes one image. False if it stays; it is then not tried again in this check. */
async function remove(
  { engine, record, onRemoved, now, log }: CollectorDeps,
  reference: string,
  { ids, references }: ContainerImages,
): Promise<boolean> {
  try {
    const id = await engine.findImage(reference)
    const isUsed = id !== undefined && (ids.has(id) || (await engine.removeImage(reference)) === 'in_use')
    if (!isUsed) {
      record.drop(reference)
      onRemoved(reference)
      return id !== undefined
    }
    record.noteUse([reference], now())
  } catch (error) {
    log.warn({ image: reference, message: String(error) }, 'unused image not removed')
  }
  references.add(reference)
  return false
}

// Starts the removal of unused images, with what the rest of the agent knows of their use.

import type { DiskUse } from '@holdfast/contract'
import type { Logger } from 'pino'
import type { DesiredSet } from '../converge/desired-set.ts'
import type { Requisites } from '../converge/requisites.ts'
import type { Engine } from '../ports/engine.ts'
import { type ImageCollector, startImageCollector } from './collect-images.ts'
import type { ImageKeeper } from './keep-images.ts'
import type { PullRecord } from './pull-record.ts'

interface CollectorParts {
  readonly engine: Engine
  readonly pulls: PullRecord
  readonly images: Pick<ImageKeeper, 'kept'>
  readonly requisites: Pick<Requisites, 'forget'>
  readonly desiredSet: Pick<DesiredSet, 'desired' | 'isKnown'>
  /** Undefined: no disk is measured, and no image removed. */
  readonly readDisk: (() => Promise<DiskUse | undefined>) | undefined
  now(): number
  readonly log: Logger
}

/** Before the desired set is known, every image may be needed. */
export function startCollector(
  { engine, pulls, images, requisites, desiredSet, readDisk, now, log }: CollectorParts,
  checkMs: number | undefined,
): ImageCollector | undefined {
  if (readDisk === undefined) return undefined
  const usedImages = (): ReadonlySet<string> | undefined => {
    if (!desiredSet.isKnown()) return undefined
    const assigned = [...desiredSet.desired.values()].map(({ template }) => template.image)
    return new Set([...images.kept(), ...assigned])
  }
  return startImageCollector({
    engine,
    record: pulls,
    usedImages,
    readDisk,
    onRemoved: requisites.forget,
    now,
    checkMs,
    log,
  })
}

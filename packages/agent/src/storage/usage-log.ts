// The usage of the node's copies: the last measurement of each, and the daily maxima of the last days, which are kept in
// the pool.

import {
  decodeOpen,
  defined,
  encodeOpen,
  integer,
  type Measurement,
  map,
  object,
  type VolumeId,
} from '@holdfast/contract'
import { addMeasurement, type DailyMaxima, highestUse } from '@holdfast/core/node'
import type { VolumePool } from '../ports/volume-pool.ts'

const NOTE = 'daily-usage'
/** A maximum that grows by less than this share is not written again the same day: each write is a change of the pool. */
const WRITTEN_GROWTH = 1.01

const noteShape = object({ v: integer(), volumes: map(map(integer())) })

export interface UsageLog {
  /** The last measurement of each copy. */
  measurements(): Measurement[]
  /** Replaces the measurements, and writes the maxima if they have changed by more than a little. */
  record(pool: VolumePool, usedBytes: ReadonlyMap<VolumeId, number>, measuredAt: string): Promise<void>
}

export function createUsageLog(): UsageLog {
  let last: Measurement[] = []
  let maxima: ReadonlyMap<string, DailyMaxima> | undefined
  let written: ReadonlyMap<string, DailyMaxima> = new Map()
  return {
    measurements: () => last,
    async record(pool, usedBytes, measuredAt) {
      if (maxima === undefined) written = maxima = await readMaxima(pool)
      const known = maxima
      maxima = new Map(
        [...usedBytes].map(([volume, bytes]) => [
          volume,
          addMeasurement(known.get(volume) ?? {}, measuredAt, bytes),
        ]),
      )
      const highestOf = (volume: string) => highestUse(maxima?.get(volume) ?? {})
      last = [...usedBytes].map(([volume, bytes]) => ({
        volume,
        usedBytes: bytes,
        measuredAt,
        ...defined({ highest: highestOf(volume) }),
      }))
      if (!isWorthWriting(written, maxima)) return
      await pool.writeNote(NOTE, `${encodeOpen({ v: 1, volumes: Object.fromEntries(maxima) })}\n`)
      written = maxima
    },
  }
}

/** Reads the maxima. A note that cannot be read is replaced: it only serves recommendations. */
async function readMaxima(pool: VolumePool): Promise<ReadonlyMap<string, DailyMaxima>> {
  const text = (await pool.readNotes()).get(NOTE)
  try {
    return new Map(Object.entries(decodeOpen(noteShape, JSON.parse(text ?? '')).volumes))
  } catch {
    return new Map()
  }
}

function isWorthWriting(
  written: ReadonlyMap<string, DailyMaxima>,
  maxima: ReadonlyMap<string, DailyMaxima>,
): boolean {
  if (written.size !== maxima.size) return true
  return [...maxima].some(([volume, days]) => {
    const before = written.get(volume) ?? {}
    return Object.entries(days).some(([day, bytes]) => bytes > (before[day] ?? -1) * WRITTEN_GROWTH)
  })
}

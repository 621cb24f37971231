// Which slice of each rotation does a CI run take? The one whose last run is the longest ago, according to the newest ledger.

import { ROTATIONS, type Rotation } from '@holdfast/testkit/rotation'
import type { Ledger } from './kept-ledgers.ts'

export type LastRuns = Readonly<Record<Rotation, readonly number[]>>

/** For each slice, the number of the run that took it last. A rotation that got more slices starts with 0 for the new ones. */
export function lastRuns(newest: Ledger | undefined): LastRuns {
  const known = newest?.slices ?? {}
  return mapRotations((name, slices) =>
    Array.from({ length: slices }, (_, slice) => known[name]?.[slice] ?? 0),
  )
}

export function chooseSlices(last: LastRuns): Readonly<Record<Rotation, number>> {
  return mapRotations((name) => last[name].indexOf(Math.min(...last[name])))
}

/** The record after a run: the slices that it took get its number. */
export function afterRun(
  last: LastRuns,
  chosen: (name: Rotation) => number | undefined,
  run: number,
): LastRuns {
  return mapRotations((name) => last[name].map((before, slice) => (chosen(name) === slice ? run : before)))
}

function mapRotations<T>(map: (name: Rotation, slices: number) => T): Readonly<Record<Rotation, T>> {
  const entries = Object.entries(ROTATIONS).map(([name, slices]) => [name, map(name as Rotation, slices)])
  return Object.fromEntries(entries)
}

// A sorted collection of keys, split into short arrays: a lookup is two binary searches, and an insertion moves a few
// hundred items at most.

import type { OrderRange } from './key-order.ts'

export interface Ordered {
  readonly order: string
}

export interface SortedKeys<T extends Ordered> {
  insert(entry: T): void
  remove(entry: T): void
  list(range: OrderRange, limit?: number): T[]
  count(range: OrderRange): number
}

const LONGEST_RUN = 256

interface Place {
  readonly run: number
  readonly index: number
}

export function createSortedKeys<T extends Ordered>(): SortedKeys<T> {
  const runs: T[][] = []
  const firstAtOrAfter = (order: string): Place => {
    const run = Math.max(0, partition(runs, (one) => (one[0]?.order ?? '') <= order) - 1)
    const index = partition(runs[run] ?? [], (entry) => entry.order < order)
    return index === runs[run]?.length ? { run: run + 1, index: 0 } : { run, index }
  }
  const placesOf = ({ from, to }: OrderRange): { start: Place; end: Place } | undefined => {
    if (to !== undefined && to <= from) return undefined
    return { start: firstAtOrAfter(from), end: to === undefined ? afterAll(runs) : firstAtOrAfter(to) }
  }
  return {
    insert(entry) {
      const run = Math.max(0, partition(runs, (one) => (one[0]?.order ?? '') <= entry.order) - 1)
      const into = runs[run]
      if (into === undefined) runs.push([entry])
      else {
        into.splice(
          partition(into, ({ order }) => order < entry.order),
          0,
          entry,
        )
        if (into.length > LONGEST_RUN) runs.splice(run + 1, 0, into.splice(LONGEST_RUN / 2))
      }
    },
    remove(entry) {
      const { run, index } = firstAtOrAfter(entry.order)
      if (runs[run]?.[index] !== entry) return
      runs[run].splice(index, 1)
      if (runs[run].length === 0) runs.splice(run, 1)
    },
    list(range, limit = Number.POSITIVE_INFINITY) {
      const places = placesOf(range)
      return places === undefined ? [] : collect(runs, places.start, places.end, limit)
    },
    count(range) {
      const places = placesOf(range)
      return places === undefined ? 0 : measure(runs, places.start, places.end)
    },
  }
}

/** Number of items at the front that satisfy `before`. No item after them may satisfy it. */
function partition<I>(items: readonly I[], before: (item: I) => boolean): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const item = items[middle]
    if (item !== undefined && before(item)) low = middle + 1
    else high = middle
  }
  return low
}

const afterAll = (runs: readonly unknown[]): Place => ({ run: runs.length, index: 0 })

function collect<T>(runs: readonly T[][], start: Place, end: Place, limit: number): T[] {
  const found: T[] = []
  for (let run = start.run; run <= end.run && run < runs.length; run += 1) {
    const entries = runs[run] ?? []
    const until = run === end.run ? end.index : entries.length
    for (let index = run === start.run ? start.index : 0; index < until; index += 1) {
      const entry = entries[index]
      if (entry === undefined || found.length >= limit) return found
      found.push(entry)
    }
  }
  return found
}

function measure<T>(runs: readonly T[][], start: Place, end: Place): number {
  let count = end.index - start.index
  for (let run = start.run; run < end.run; run += 1) count += runs[run]?.length ?? 0
  return count
}

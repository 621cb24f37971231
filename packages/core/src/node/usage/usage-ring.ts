// An hour of samples of one container or machine, as one array of fixed size. A slot without a sample stays empty, so that
// a gap is never taken for 0.

/** The time between two slots. */
export const USAGE_STEP_MS = 10_000
/** Number of slots that are kept: an hour. */
export const USAGE_SLOTS = 360
/** Number of values in a slot. */
const COLUMNS = 4

export type SlotValues = readonly (number | undefined)[]

export interface UsageRing {
  /** The number of the newest slot with a sample; undefined without any. */
  readonly newest: number | undefined
  /** Stores a sample. A slot that is older than the kept ones is ignored. */
  set(slot: number, values: SlotValues): void
  /** Stores a sample unless the slot already has one. */
  fill(slot: number, values: SlotValues): void
  /** The values of one column from the first to the last slot, both included; null where there is none. */
  column(column: number, first: number, last: number): (number | null)[]
  /** The mean of the values of one column; undefined without any. */
  mean(column: number, first: number, last: number): number | undefined
}

export function createUsageRing(slots = USAGE_SLOTS): UsageRing {
  const cells = new Float32Array(slots * COLUMNS).fill(Number.NaN)
  let newest: number | undefined
  // Slots before the start of the process have negative numbers.
  const at = (slot: number): number => (((slot % slots) + slots) % slots) * COLUMNS
  const isKept = (slot: number): boolean => newest !== undefined && slot <= newest && slot > newest - slots
  const cellAt = (column: number, slot: number): number =>
    isKept(slot) ? (cells[at(slot) + column] ?? Number.NaN) : Number.NaN
  /** Empties the slots between the newest one and this one, which still hold values of an hour ago. */
  const advance = (slot: number): void => {
    const skipped = newest === undefined ? slots : Math.min(slots, slot - newest)
    for (let back = 0; back < skipped; back += 1) {
      const start = at(slot - back)
      cells.fill(Number.NaN, start, start + COLUMNS)
    }
    newest = slot
  }
  const write = (slot: number, values: SlotValues, keep: boolean): void => {
    if (newest === undefined || slot > newest) advance(slot)
    if (!isKept(slot)) return
    const start = at(slot)
    const isTaken = cells.subarray(start, start + COLUMNS).some((value) => !Number.isNaN(value))
    if (keep && isTaken) return
    for (let column = 0; column < COLUMNS; column += 1) cells[start + column] = values[column] ?? Number.NaN
  }
  return {
    get newest() {
      return newest
    },
    set: (slot, values) => write(slot, values, false),
    fill: (slot, values) => write(slot, values, true),
    column: (column, first, last) =>
      Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => {
        const value = cellAt(column, first + index)
        return Number.isNaN(value) ? null : Math.round(value)
      }),
    mean(column, first, last) {
      let [sum, count] = [0, 0]
      for (let slot = first; slot <= last; slot += 1) {
        const value = cellAt(column, slot)
        if (Number.isNaN(value)) continue
        sum += value
        count += 1
      }
      return count === 0 ? undefined : sum / count
    },
  }
}

/** The last sample of a machine: when it was taken, and its slot. */
export interface LastSlot {
  readonly atMs: number
  readonly slot: number
}

/**
 * The slot of a sample. Samples are taken a step apart, a little more or less. The distance to the sample before decides as
 * long as it is at most one slot off, so that no slot stays empty because of the little.
 */
export function slotOf(last: LastSlot | undefined, atMs: number, stepMs = USAGE_STEP_MS): LastSlot {
  const byTime = Math.floor(atMs / stepMs)
  if (last === undefined) return { atMs, slot: byTime }
  const byDistance = last.slot + Math.round((atMs - last.atMs) / stepMs)
  return { atMs, slot: Math.abs(byDistance - byTime) <= 1 ? byDistance : byTime }
}

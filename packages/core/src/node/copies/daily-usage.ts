// The highest usage of each volume on each of the last days, from which a size can be recommended.

/** The highest bytes in use by day, as `2026-11-17`. */
export interface DailyMaxima {
  readonly [day: string]: number
}

const DAYS = 8
const DAY_CHARACTERS = 'yyyy-mm-dd'.length

/** The highest bytes in use of all days, and the first of the days; undefined without any. */
export function highestUse(maxima: DailyMaxima): { bytes: number; since: string } | undefined {
  const days = Object.keys(maxima).toSorted()
  const [since] = days
  return since === undefined ? undefined : { bytes: Math.max(...Object.values(maxima)), since }
}

/** Adds a measurement and drops all but the last days. Returns the same object if nothing has changed. */
export function addMeasurement(maxima: DailyMaxima, measuredAt: string, usedBytes: number): DailyMaxima {
  const day = measuredAt.slice(0, DAY_CHARACTERS)
  const known = maxima[day]
  if (known !== undefined && known >= usedBytes) return maxima
  const days = [...new Set([...Object.keys(maxima), day])].toSorted().slice(-DAYS)
  return Object.fromEntries(days.map((one) => [one, one === day ? usedBytes : (maxima[one] ?? 0)]))
}

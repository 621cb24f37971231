// Turns two readings of a container's counters into one sample. A value that cannot be derived is left out, never 0.

import { type ContainerSample, defined } from '@holdfast/contract'

/** The counters and levels of one container at one moment, as far as they could be read. */
export interface ContainerReading {
  /** CPU time of all its processes since the start. */
  readonly cpuNanos: number
  readonly memoryBytes: number
  /** Periods of its CPU limit that have passed, and those in which it used the limit up. */
  readonly periods?: number | undefined
  readonly throttled?: number | undefined
  readonly pids?: number | undefined
  readonly rx?: number | undefined
  readonly tx?: number | undefined
}

export type UsageValues = Omit<ContainerSample, 'id'>

/** The sample at the end of an interval. Without a reading at its begin there are levels only, no rates. */
export function sampleBetween(
  before: ContainerReading | undefined,
  after: ContainerReading,
  elapsedMs: number,
): UsageValues {
  const { memoryBytes, pids } = after
  const rate = (name: 'cpuNanos' | 'rx' | 'tx', perUnit: number): number | undefined => {
    const grown = growth(before?.[name], after[name])
    return grown === undefined || elapsedMs <= 0 ? undefined : Math.round((grown * perUnit) / elapsedMs)
  }
  return {
    memoryBytes,
    ...defined({
      // A nanosecond per millisecond is a millionth of a CPU, which is a thousandth of a milli-CPU.
      cpuMillis: rate('cpuNanos', 1e-3),
      rx: rate('rx', 1000),
      tx: rate('tx', 1000),
      throttledPercent: throttledPercent(before, after),
      pids,
    }),
  }
}

/** A counter that went down was reset: the container was restarted within the interval. */
const growth = (before: number | undefined, after: number | undefined): number | undefined =>
  before === undefined || after === undefined || after < before ? undefined : after - before

function throttledPercent(before: ContainerReading | undefined, after: ContainerReading): number | undefined {
  const periods = growth(before?.periods, after.periods)
  const throttled = growth(before?.throttled, after.throttled)
  if (periods === undefined || throttled === undefined) return undefined
  return periods === 0 ? 0 : Math.min(100, Math.round((throttled * 100) / periods))
}

// A closed-loop load: N callers for a given time, each of which sends the next request when the previous one was
// answered. Measures throughput, latency and CPU cost.

import { busyMicros, cpuMicros } from './cpu.ts'

export interface Measured {
  readonly perSecond: number
  readonly latenciesMs: readonly number[]
  readonly failed: number
  /** CPU microseconds per operation, for each named group of processes. */
  readonly microsPerOperation: { readonly [group: string]: number }
  /** Cores that processes outside of the benchmark used during the measurement. */
  readonly otherCores: number
}

export interface LoopOptions {
  readonly callers: number
  readonly seconds: number
  readonly groups: { readonly [name: string]: readonly number[] }
}

let counter = 0

/** Runs the load. Each operation gets an index that is unique in the process, from which it can form a unique name. */
export async function closedLoop(
  operate: (index: number) => Promise<boolean>,
  { callers, seconds, groups }: LoopOptions,
): Promise<Measured> {
  const latenciesMs: number[] = []
  let failed = 0
  const before = Object.entries(groups).map(([, pids]) => cpuMicros(pids))
  const busyBefore = busyMicros()
  const began = performance.now()
  const until = began + seconds * 1000
  const call = async (): Promise<void> => {
    while (performance.now() < until) {
      const start = performance.now()
      const ok = await operate(counter++)
      latenciesMs.push(performance.now() - start)
      if (!ok) failed += 1
    }
  }
  await Promise.all(Array.from({ length: callers }, call))
  const elapsed = (performance.now() - began) / 1000
  const spent = Object.entries(groups).map(([, pids], index) => cpuMicros(pids) - (before[index] ?? 0))
  const done = latenciesMs.length
  const own = spent.reduce((sum, micros) => sum + micros, 0)
  return {
    perSecond: done / elapsed,
    latenciesMs,
    failed,
    microsPerOperation: Object.fromEntries(
      Object.keys(groups).map((name, index) => [name, (spent[index] ?? 0) / done]),
    ),
    otherCores: Math.max(0, (busyMicros() - busyBefore - own) / elapsed / 1_000_000),
  }
}

// Replaces the timers, clocks and randomness of the process by virtual ones, and restores the real ones. Product code
// uses the global functions unchanged.

import type { Random } from './random.ts'

export interface Timekeeper {
  readonly random: Random
  /** Shortest period of an interval timer in milliseconds; shorter periods are extended to this. */
  readonly coarseMs: number
  elapsedMs(): number
  /** The time on the wall clock of the process that runs, in milliseconds since 1970. */
  wallNow(): number
  later(work: () => void, delayMs: number, everyMs: number | undefined): Cancellable
  soon(work: () => void): Cancellable
}

export interface Cancellable {
  cancelled: boolean
}

type Callback = (...given: unknown[]) => void

/** The part of Node's timer object that product code uses. */
interface Handle {
  readonly planned: Cancellable
  ref(): Handle
  unref(): Handle
  hasRef(): boolean
}

function handleOf(planned: Cancellable): Handle {
  const handle: Handle = { planned, ref: () => handle, unref: () => handle, hasRef: () => true }
  return handle
}

/** Intervals below this many milliseconds are polls for an answer and are never extended. */
const WAITING_MS = 100
/** Rounds a delay below one millisecond up to one, as Node does. */
const atLeastOne = (ms: number | undefined): number => (ms !== undefined && ms >= 1 ? ms : 1)

/** Installs virtual timers and clocks. Returns a function that restores the real ones. */
export function replaceGlobals(time: Timekeeper): () => void {
  const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } = globalThis
  const real = { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate }
  const [realNow, realRandom] = [Date.now, Math.random]
  Object.assign(globalThis, timersOf(time))
  Object.defineProperty(performance, 'now', { configurable: true, value: time.elapsedMs })
  Object.assign(Date, { now: time.wallNow })
  Object.assign(Math, { random: time.random.number })
  return () => {
    Object.assign(globalThis, real)
    Reflect.deleteProperty(performance, 'now')
    Object.assign(Date, { now: realNow })
    Object.assign(Math, { random: realRandom })
  }
}

function timersOf({ later, soon, coarseMs }: Timekeeper) {
  const clear = (handle: Handle | undefined): void => {
    if (handle?.planned !== undefined) handle.planned.cancelled = true
  }
  return {
    setTimeout: (work: Callback, ms?: number, ...given: unknown[]) =>
      handleOf(later(() => work(...given), atLeastOne(ms), undefined)),
    setInterval: (work: Callback, ms?: number, ...given: unknown[]) => {
      const askedMs = atLeastOne(ms)
      const everyMs = askedMs >= WAITING_MS ? Math.max(askedMs, coarseMs) : askedMs
      return handleOf(later(() => work(...given), everyMs, everyMs))
    },
    setImmediate: (work: Callback, ...given: unknown[]) => handleOf(soon(() => work(...given))),
    clearTimeout: clear,
    clearInterval: clear,
    clearImmediate: clear,
  }
}

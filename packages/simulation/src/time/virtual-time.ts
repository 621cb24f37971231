// Virtual time. While installed, it replaces the timers, clocks and randomness of the process, so that product code runs
// unchanged and a virtual day passes as fast as it can be computed. Events run one at a time: all promises of an event
// end before the next event, in an order that this file alone decides.

import { createHeap } from './heap.ts'
import type { Random } from './random.ts'
import { replaceGlobals } from './replace-globals.ts'

/** The wall clock of a host, which all its processes read. No other clock depends on it. */
export interface WallClock {
  /** Milliseconds by which it differs from the true time. */
  offMs: number
  /** Virtual time at which the last step is undone. */
  wrongUntilMs: number
}

export const newWallClock = (): WallClock => ({ offMs: 0, wrongUntilMs: 0 })

/** Steps a wall clock away from the true time, until the end of the step or until the next one. */
export function stepWall(
  time: Pick<VirtualTime, 'elapsedMs' | 'plan'>,
  wall: WallClock,
  offMs: number,
  forMs: number,
): void {
  const wrongUntilMs = time.elapsedMs + forMs
  Object.assign(wall, { offMs, wrongUntilMs })
  time.plan(forMs, undefined, () => {
    if (wall.wrongUntilMs === wrongUntilMs) wall.offMs = 0
  })
}

/** A simulated process that can die or be paused as a whole: its planned events are then dropped or delayed. */
export interface SimulatedProcess {
  readonly name: string
  alive: boolean
  /** Events that a paused process missed, in order; undefined while the process runs. */
  held: Planned[] | undefined
  readonly wall: WallClock
}

interface Planned {
  at: number
  order: number
  readonly process: SimulatedProcess | undefined
  readonly work: () => void
  /** Period of an interval timer in milliseconds; undefined for an event that runs once. */
  readonly everyMs: number | undefined
  cancelled: boolean
}

export const newProcess = (name: string, wall = newWallClock()): SimulatedProcess => ({
  ...{ name, alive: true, held: undefined, wall },
})

export interface VirtualTime {
  /** Current virtual time in milliseconds since 1970. */
  readonly now: number
  /** The time on the wall clock of the process that runs; the true time outside of any process. */
  readonly wallNow: number
  /** Virtual milliseconds since the installation of virtual time. */
  readonly elapsedMs: number
  /** Number of virtual events that ran so far. */
  readonly steps: number
  /** Runs `work` as part of a simulated process: events that `work` plans are dropped if the process dies. */
  runAs<R>(process: SimulatedProcess, work: () => R): R
  /** Runs `work` outside of any process, as for the network: the death of a process does not drop the planned events. */
  outside<R>(work: () => R): R
  /** Plans an event after a delay. Events with equal times run in order of planning. */
  plan(delayMs: number, process: SimulatedProcess | undefined, work: () => void): void
  /** Runs an event of a process: now, on resume if the process is paused, or never if the process is dead. */
  deliver(process: SimulatedProcess, work: () => void): void
  pause(process: SimulatedProcess): void
  resume(process: SimulatedProcess): void
  /**
   * Runs every event up to the given time. `settled` is called when an event and all its promises are done; true ends the
   * run. Rejects with the error of an event, which would have ended a real process.
   */
  runUntil(elapsedMs: number, settled: () => boolean): Promise<void>
  /** Restores the real timers and clocks. Events that are still planned never run. */
  uninstall(): void
}

/** Maximum number of events at one virtual time; more events mean an endless loop. */
const MOST_IN_A_MOMENT = 200_000
/** Number of real event-loop turns requested together, which is faster than requesting each turn separately. */
const TURNS_AT_ONCE = 64

interface Running {
  readonly startedAt: number
  readonly timers: ReturnType<typeof createHeap<Planned>>
  /** Events without a delay, in order of planning; those before `next` have run. */
  immediates: Planned[]
  next: number
  elapsedMs: number
  planned: number
  steps: number
  inThisMoment: number
  /** The process whose event runs, until all promises of that event are done. */
  current: SimulatedProcess | undefined
}

/**
 * Installs virtual time. Interval timers below `coarseMs` are extended to `coarseMs`, because idle periodic work would
 * dominate a long run. Product code accepts this, because real timers may be late too. The shortest intervals, which
 * poll for an answer, are unchanged.
 */
export function installVirtualTime(startedAt: number, random: Random, coarseMs = 0): VirtualTime {
  if (Object.hasOwn(performance, 'now'))
    throw new Error('the time of this process is not the real one already')
  const running: Running = {
    startedAt,
    timers: createHeap((left, right) => left.at - right.at || left.order - right.order),
    immediates: [],
    next: 0,
    elapsedMs: 0,
    planned: 0,
    steps: 0,
    inThisMoment: 0,
    current: undefined,
  }
  const realSetImmediate = globalThis.setImmediate
  const wallNow = (): number => Math.floor(startedAt + running.elapsedMs + (running.current?.wall.offMs ?? 0))
  const uninstall = replaceGlobals({
    random,
    coarseMs,
    wallNow,
    elapsedMs: () => running.elapsedMs,
    later: (work, delayMs, everyMs) => addTimer(running, delayMs, running.current, work, everyMs),
    soon: (work) => {
      const planned = immediateOf(running.current, work)
      running.immediates.push(planned)
      return planned
    },
  })
  return {
    get now() {
      return startedAt + running.elapsedMs
    },
    get wallNow() {
      return wallNow()
    },
    get elapsedMs() {
      return running.elapsedMs
    },
    get steps() {
      return running.steps
    },
    runAs: (process, work) => runAs(running, process, work),
    outside: (work) => runAs(running, undefined, work),
    plan: (delayMs, process, work) => {
      addTimer(running, delayMs, process, work, undefined)
    },
    deliver(process, work) {
      running.immediates.push(immediateOf(process, work))
    },
    pause(process) {
      process.held ??= []
    },
    resume(process) {
      const held = process.held ?? []
      process.held = undefined
      running.immediates.push(...held)
    },
    runUntil: (elapsedMs, settled) => runUntil(running, realSetImmediate, elapsedMs, settled),
    uninstall,
  }
}

function runAs<R>(running: Running, process: SimulatedProcess | undefined, work: () => R): R {
  const before = running.current
  running.current = process
  try {
    return work()
  } finally {
    running.current = before
  }
}

function addTimer(
  running: Running,
  delayMs: number,
  process: SimulatedProcess | undefined,
  work: () => void,
  everyMs: number | undefined,
): Planned {
  running.planned += 1
  const at = running.elapsedMs + delayMs
  const planned = { at, order: running.planned, process, work, everyMs, cancelled: false }
  running.timers.push(planned)
  return planned
}

const immediateOf = (process: SimulatedProcess | undefined, work: () => void): Planned => ({
  at: 0,
  order: 0,
  process,
  work,
  everyMs: undefined,
  cancelled: false,
})

/** Runs the next event. Returns false if no event is left up to the given time. */
function step(running: Running, until: number): boolean {
  const planned = takeRunnable(running, until)
  if (planned === undefined) return false
  running.steps += 1
  rearm(running, planned)
  running.current = planned.process
  planned.work()
  return true
}

/**
 * The next event that can run. Most deadlines are cancelled before they are due, so events that do nothing are dropped
 * here, without a turn of the real event loop.
 */
function takeRunnable(running: Running, until: number): Planned | undefined {
  for (;;) {
    const planned = takeImmediate(running) ?? takeTimer(running, until)
    if (planned === undefined) return undefined
    running.inThisMoment += 1
    if (running.inThisMoment > MOST_IN_A_MOMENT)
      throw new Error(`time does not move on: ${planned.process?.name ?? 'the script'} plans without end`)
    const { process } = planned
    if (planned.cancelled || process?.alive === false) continue
    if (process?.held === undefined) return planned
    process.held.push(planned)
  }
}

/** Plans the next run of an interval timer before the current run, because the current run may clear the timer. */
function rearm(running: Running, planned: Planned): void {
  if (planned.everyMs === undefined) return
  running.planned += 1
  planned.at = running.elapsedMs + planned.everyMs
  planned.order = running.planned
  running.timers.push(planned)
}

function takeImmediate(running: Running): Planned | undefined {
  if (running.next === running.immediates.length) return undefined
  const planned = running.immediates[running.next]
  running.next += 1
  if (running.next === running.immediates.length) {
    running.immediates = []
    running.next = 0
  }
  return planned
}

function takeTimer(running: Running, until: number): Planned | undefined {
  const first = running.timers.peek()
  if (first === undefined || first.at > until) return undefined
  if (first.at > running.elapsedMs) {
    running.elapsedMs = first.at
    running.inThisMoment = 0
  }
  return running.timers.pop()
}

function runUntil(
  running: Running,
  realSetImmediate: typeof setImmediate,
  until: number,
  settled: () => boolean,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let asked = 0
    let over = false
    const end = (finish: () => void): void => {
      over = true
      finish()
    }
    const turn = (): void => {
      asked -= 1
      if (over) return
      try {
        // Between two event-loop turns all promises of the last virtual event settle, so the next event may run now.
        if (settled()) end(resolve)
        else if (!step(running, until)) {
          running.elapsedMs = Math.max(running.elapsedMs, until)
          end(resolve)
        }
      } catch (error) {
        end(() => reject(error))
      }
      if (!over && asked === 0) ask()
    }
    const ask = (): void => {
      for (asked = 0; asked < TURNS_AT_ONCE; asked += 1) realSetImmediate(turn)
    }
    ask()
  })
}

// Time that stands still until somebody moves it. While it is installed the timers, clocks and the randomness of the process
// are ours, so that product code runs unchanged and a day passes as fast as it can be computed. One event at a time, and
// everything it set in motion ends before the next one begins: order comes from here and from nowhere else.

import { createHeap } from './heap.ts'
import type { Random } from './random.ts'
import { replaceGlobals } from './replace-globals.ts'

/** Something that can die or stand still as a whole: what it had planned does not happen, or happens later. */
export interface SimulatedProcess {
  readonly name: string
  alive: boolean
  /** Undefined while it runs; otherwise what would have happened meanwhile, in order. */
  held: Planned[] | undefined
}

interface Planned {
  at: number
  order: number
  readonly process: SimulatedProcess | undefined
  readonly work: () => void
  /** Of an interval. */
  readonly everyMs: number | undefined
  cancelled: boolean
}

export const newProcess = (name: string): SimulatedProcess => ({ name, alive: true, held: undefined })

export interface VirtualTime {
  /** Virtual milliseconds since 1970. */
  readonly now: number
  /** Since it was installed. */
  readonly elapsedMs: number
  /** Events that were run. */
  readonly steps: number
  /** What `work` plans before it returns belongs to the process. */
  runAs<R>(process: SimulatedProcess, work: () => R): R
  /** What `work` plans belongs to nobody and happens whoever dies: the network's. */
  outside<R>(work: () => R): R
  /** In order of planning among those of the same time. */
  plan(delayMs: number, process: SimulatedProcess | undefined, work: () => void): void
  /** An event of the process: at once; when it goes on, if it stands still; never, if it is dead. */
  deliver(process: SimulatedProcess, work: () => void): void
  pause(process: SimulatedProcess): void
  resume(process: SimulatedProcess): void
  /**
   * Runs every event up to that moment. `settled` is called when an event and all its promises are through; true ends the run.
   * Rejects with what an event threw: a process of ours would have died of it.
   */
  runUntil(elapsedMs: number, settled: () => boolean): Promise<void>
  /** The real ones again. What is still planned never happens. */
  uninstall(): void
}

/** In one moment of virtual time: whoever needs more is going round in a circle. */
const MOST_IN_A_MOMENT = 200_000
/** Real turns that are asked for together: one at a time would visit the whole event loop for each. */
const TURNS_AT_ONCE = 64

interface Running {
  readonly startedAt: number
  readonly timers: ReturnType<typeof createHeap<Planned>>
  /** From `next` on, in the order in which they were planned. */
  immediates: Planned[]
  next: number
  elapsedMs: number
  planned: number
  steps: number
  inThisMoment: number
  /** Whose event is under way, promises included: nobody else's run before the next one. */
  current: SimulatedProcess | undefined
}

/**
 * `coarseMs`: intervals shorter than this come that seldom, for a run in which idle looks would cost more than all the rest.
 * Timers may be late in any process, so nothing may depend on it. The shortest, by which somebody waits for an answer, stay.
 */
export function installVirtualTime(startedAt: number, random: Random, coarseMs = 0): VirtualTime {
  if (Object.hasOwn(performance, 'now'))
    throw new Error('the time of this process is not the real one already')
  const running: Running = {
    startedAt,
    timers: createHeap((left, right) => left.at - right.at || left.order - right.order),
    ...{ immediates: [], next: 0, elapsedMs: 0, planned: 0, steps: 0, inThisMoment: 0, current: undefined },
  }
  const realSetImmediate = globalThis.setImmediate
  const uninstall = replaceGlobals({
    ...{ startedAt, random, coarseMs, elapsedMs: () => running.elapsedMs },
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
  ...{ at: 0, order: 0, process, work, everyMs: undefined, cancelled: false },
})

/** False where nothing is left to be done up to that moment. */
function step(running: Running, until: number): boolean {
  const planned = takeImmediate(running) ?? takeTimer(running, until)
  if (planned === undefined) return false
  running.inThisMoment += 1
  if (running.inThisMoment > MOST_IN_A_MOMENT)
    throw new Error(`time does not move on: ${planned.process?.name ?? 'the script'} plans without end`)
  const { process } = planned
  if (planned.cancelled || process?.alive === false) return true
  if (process?.held !== undefined) {
    process.held.push(planned)
    return true
  }
  running.steps += 1
  rearm(running, planned)
  running.current = process
  planned.work()
  return true
}

/** Before its turn, which may end it. */
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
        // The engine runs every promise between two of these turns.
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

// The time of each step of an update for each replica, on the clock of performance.now(). Steps of the engine come from
// engine events; the other steps (desired state and reports) are recorded by the measured variant itself.

import { ASSIGNMENT_LABEL } from '@holdfast/core/node'
import { watchEvents } from '../engine-events.ts'
import { median } from '../stats.ts'

const DEADLINE_MS = 180_000

type Step = 'wanted' | 'created' | 'started' | 'ready' | 'unwanted' | 'stopped' | 'removed'

/** An old replica and the new replica that succeeds it. */
export interface Succession {
  readonly old: string
  readonly next: string
}

export interface StepBook {
  /** Records the current time for a replica's step; later calls for the same step are ignored. */
  note(id: string, step: Step): void
  /** Resolves with the time at which the last of these replicas was removed from the engine. */
  untilRemoved(ids: readonly string[]): Promise<number>
  /** Describes an update by the median duration of each step over all replicas. */
  describe(successions: readonly Succession[]): string
  close(): void
}

/** The step of an update that each container event of the engine stands for, by the engine's name of the event. */
const STEPS: ReadonlyMap<string, Step> = new Map([
  ['create', 'created'],
  ['start', 'started'],
  ['die', 'stopped'],
  ['destroy', 'removed'],
])

export async function openStepBook(socketPath: string): Promise<StepBook> {
  const times = new Map<string, number>()
  const listeners = new Set<() => void>()
  const at = (id: string, step: Step): number => times.get(`${step} ${id}`) ?? Number.NaN
  const note = (id: string, step: Step, time = performance.now()): void => {
    const key = `${step} ${id}`
    if (times.has(key)) return
    times.set(key, time)
    for (const listener of listeners) listener()
  }
  const close = await watchEvents(socketPath, ASSIGNMENT_LABEL, ({ action, label, time }) => {
    const step = STEPS.get(action)
    if (step !== undefined) note(label, step, time)
  })
  return {
    note,
    async untilRemoved(ids) {
      const left = (): string[] => ids.filter((id) => Number.isNaN(at(id, 'removed')))
      await new Promise<void>((resolve, reject) => {
        const late = (): void =>
          reject(new Error(`${left().length} of ${ids.length} were not replaced in time`))
        const timer = setTimeout(late, DEADLINE_MS)
        const check = (): void => {
          if (left().length > 0) return
          clearTimeout(timer)
          listeners.delete(check)
          resolve()
        }
        listeners.add(check)
        check()
      })
      return Math.max(...ids.map((id) => at(id, 'removed')))
    },
    describe: (successions) => describe(successions, at),
    close,
  }
}

function describe(successions: readonly Succession[], at: (id: string, step: Step) => number): string {
  const between = (about: string, times: (one: Succession) => number): string =>
    `${about} ${median(successions.map(times)).toFixed(0)}`
  const next = (from: Step, to: Step) => (one: Succession) => at(one.next, to) - at(one.next, from)
  const old = (from: Step, to: Step) => (one: Succession) => at(one.old, to) - at(one.old, from)
  return [
    between('wanted to created', next('wanted', 'created')),
    between('to started', next('created', 'started')),
    between('to ready', next('started', 'ready')),
    between('to old unwanted', (one) => at(one.old, 'unwanted') - at(one.next, 'ready')),
    between('to old stopped', old('unwanted', 'stopped')),
    between('to old removed', old('stopped', 'removed')),
    `ready to next wanted ${timeToNext(successions, at).toFixed(0)}`,
  ].join(', ')
}

/** Median time from a replica's readiness to the next assignment of another replica. */
function timeToNext(successions: readonly Succession[], at: (id: string, step: Step) => number): number {
  const wanted = successions.map(({ next }) => at(next, 'wanted')).toSorted((a, b) => a - b)
  const gaps = successions.flatMap(({ next }) => {
    const ready = at(next, 'ready')
    const after = wanted.find((time) => time > ready)
    return after === undefined ? [] : [after - ready]
  })
  return median(gaps)
}

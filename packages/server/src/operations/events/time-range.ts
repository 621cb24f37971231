// The times between which events and audit entries are requested. Keys of events carry no time, so their range is found by
// bisection with a few reads.

import { durationMs } from '@holdfast/contract'
import { events } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import type { PlacedEvent } from './event-cursor.ts'

/** In milliseconds since 1970, both ends included; an absent end is open. */
export interface TimeRange {
  readonly since?: number
  readonly until?: number
}

interface SentRange {
  readonly since?: string | undefined
  readonly until?: string | undefined
}

/** Reads the parameters `since` and `until`: a time, or a duration before now. */
export function readTimeRange({ since, until }: SentRange, now: number): TimeRange {
  const timeOf = (text: string): number => {
    const before = durationMs(text)
    return before === undefined ? Date.parse(text) : now - before
  }
  return {
    ...(since === undefined ? {} : { since: timeOf(since) }),
    ...(until === undefined ? {} : { until: timeOf(until) }),
  }
}

export function isWithin(time: string, { since, until }: TimeRange): boolean {
  const at = Date.parse(time)
  return (since === undefined || at >= since) && (until === undefined || at <= until)
}

/** Clocks of servers differ a little, so events near an end are left to the exact check. */
const SLACK = 64

/** The events that may be within the range, and few others. */
export async function withinTimes(
  store: Pick<Store, 'read'>,
  placed: readonly PlacedEvent[],
  { since, until }: TimeRange,
): Promise<readonly PlacedEvent[]> {
  const from = since === undefined ? 0 : await firstAfter(store, placed, since - 1)
  const to = until === undefined ? placed.length : await firstAfter(store, placed, until)
  return from === 0 && to === placed.length
    ? placed
    : placed.slice(Math.max(0, from - SLACK), until === undefined ? undefined : to + SLACK)
}

/** The position of the first event after a time. An event that retention has removed is older than all others. */
async function firstAfter(
  store: Pick<Store, 'read'>,
  placed: readonly PlacedEvent[],
  time: number,
): Promise<number> {
  let [low, high] = [0, placed.length]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [event] = await store.read(events, [placed[middle]?.key ?? ''])
    if (event !== undefined && Date.parse(event.time) > time) high = middle
    else low = middle + 1
  }
  return low
}

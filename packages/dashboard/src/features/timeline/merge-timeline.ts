// Events and audit entries as one timeline, newest first. An event that a request caused is listed below the entry of that
// request, so that a change and its consequences are read together.

import type { AuditEntry, ListedEvent } from '@holdfast/contract'

export interface TimelineEntry {
  readonly key: string
  readonly time: string
  /** The request of a person or program; absent for events without one. */
  readonly act?: AuditEntry
  /** The events, oldest first. */
  readonly events: readonly ListedEvent[]
}

export function mergeTimeline(events: readonly ListedEvent[], audit: readonly AuditEntry[]): TimelineEntry[] {
  const known = new Set(audit.map(({ id }) => id))
  const caused = Map.groupBy(events, ({ audit: id }) => (id !== undefined && known.has(id) ? id : undefined))
  const acts = audit.map(
    (act): TimelineEntry => ({
      key: act.id,
      time: act.time,
      act,
      events: (caused.get(act.id) ?? []).toSorted((left, right) => order(left.time, right.time)),
    }),
  )
  const alone = (caused.get(undefined) ?? []).map(
    (event): TimelineEntry => ({ key: event.id, time: event.lastSeen, events: [event] }),
  )
  return [...acts, ...alone].toSorted((left, right) => order(right.time, left.time))
}

const order = (left: string, right: string): number => Date.parse(left) - Date.parse(right)

/** The time before which older entries begin; undefined if nothing is shown. */
export const oldestTime = (entries: readonly TimelineEntry[]): string | undefined => entries.at(-1)?.time

import type { Event } from '@holdfast/contract'
import { age } from '../print/age.ts'
import { colorOf } from '../print/color.ts'
import type { Column } from '../print/table.ts'
import type { Resource } from './resource.ts'

/** An event of a list or of the stream. A list combines equal events into one with a count; the stream does not. */
export type ShownEvent = Event & { readonly count?: number; readonly lastSeen?: string }

export const EVENT_COLUMNS: readonly Column<ShownEvent>[] = [
  { header: 'AGE', value: ({ lastSeen, time }, nowMs) => age(lastSeen ?? time, nowMs) },
  {
    header: 'SEVERITY',
    drop: 2,
    value: ({ severity }) => severity,
    tint: ({ severity }) => colorOf(severity),
  },
  { header: 'TYPE', value: ({ type }) => type },
  { header: 'SUBJECT', value: ({ subject }) => subject.name },
  { header: 'COUNT', wide: true, value: ({ count = 1 }) => String(count) },
  { header: 'REASON', drop: 1, value: ({ reason }) => reason },
  { header: 'MESSAGE', value: ({ message }) => message },
]

const HIDDEN = new Set(['SUBJECT', 'SEVERITY', 'REASON'])

/** The columns of events in `describe`, which have no header: the time says that it is an age. */
export const DESCRIBED_EVENT_COLUMNS: readonly Column<ShownEvent>[] = EVENT_COLUMNS.filter(
  ({ header }) => !HIDDEN.has(header),
).map((column) =>
  column.header === 'AGE'
    ? { ...column, value: (event, nowMs) => `${column.value(event, nowMs)} ago` }
    : column,
)

export const events: Resource<ShownEvent> = {
  names: ['events', 'event'],
  kind: 'event',
  nameOf: ({ id }) => id,
  async list(client) {
    const page = await client.events({ limit: 100 })
    return page.ok ? { ok: true, value: page.value.items } : page
  },
  columns: EVENT_COLUMNS,
}

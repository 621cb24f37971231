// Reads events in the given order, forwards or backwards. One request scans a limited number of events; the result
// contains the last scanned event, so that the client can continue after it.

import type { Event } from '@holdfast/contract'
import { events } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import type { PlacedEvent } from './event-cursor.ts'

/** Number of events per read from the store; MAX_SCANNED is the most that one request scans. */
const CHUNK = 100
export const MAX_SCANNED = 2000

type StoredEvent = Event & { readonly v: number }

export interface ScanResult {
  /** The last event that was scanned, from which the client can continue. */
  readonly last: PlacedEvent | undefined
  /** True if all events were scanned. */
  readonly complete: boolean
}

/** Calls `visit` for each event until it returns false. Events that retention has just removed are skipped. */
export async function scanEvents(
  store: Pick<Store, 'read'>,
  positions: readonly PlacedEvent[],
  visit: (event: StoredEvent, placed: PlacedEvent) => boolean,
): Promise<ScanResult> {
  const most = Math.min(positions.length, MAX_SCANNED)
  for (let start = 0; start < most; start += CHUNK) {
    const chunk = positions.slice(start, Math.min(start + CHUNK, most))
    const keys = chunk.map(({ key }) => key)
    const records = await store.read(events, keys)
    for (const [index, placed] of chunk.entries()) {
      const event = records[index]
      if (event !== undefined && !visit(event, placed))
        return { last: placed, complete: start + index + 1 === positions.length }
    }
  }
  return { last: positions[most - 1], complete: most === positions.length }
}

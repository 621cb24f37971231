// Reading events along a way, forwards or backwards: how much one request looks at is bounded, and where it stopped is
// told, so that whoever asks can go on from there. Nothing is left out in silence.

import type { Event } from '@holdfast/contract'
import { events } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import type { PlacedEvent } from './event-cursor.ts'

/** Read at once, and looked at by one request at the most. */
const CHUNK = 100
export const MOST_LOOKED_AT = 2000

type StoredEvent = Event & { readonly v: number }

export interface LookedThrough {
  /** The last one that was looked at. */
  readonly last: PlacedEvent | undefined
  /** Nothing of the way is left. */
  readonly whole: boolean
}

/** `look` answers whether it wants more. What retention removed meanwhile is passed over. */
export async function lookThrough(
  store: Pick<Store, 'read'>,
  way: readonly PlacedEvent[],
  look: (event: StoredEvent, placed: PlacedEvent) => boolean,
): Promise<LookedThrough> {
  const most = Math.min(way.length, MOST_LOOKED_AT)
  for (let start = 0; start < most; start += CHUNK) {
    const chunk = way.slice(start, Math.min(start + CHUNK, most))
    const keys = chunk.map(({ key }) => key)
    const records = await store.read(events, keys)
    for (const [index, placed] of chunk.entries()) {
      const event = records[index]
      if (event !== undefined && !look(event, placed))
        return { last: placed, whole: start + index + 1 === way.length }
    }
  }
  return { last: way[most - 1], whole: most === way.length }
}

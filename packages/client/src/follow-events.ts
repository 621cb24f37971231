// Follows events as they occur, without losing or repeating one (docs/design/events.md#delivery).

import { decodeOpen, type Event, eventShape } from '@holdfast/contract'
import type { Connection } from './connection.ts'
import { followMessages, type StreamNotice } from './follow-messages.ts'

export interface EventFilter {
  readonly type?: string | undefined
  readonly subject?: string | undefined
  readonly severity?: string | undefined
}

export type EventStreamItem =
  | StreamNotice
  | { readonly kind: 'event'; readonly cursor: string; readonly event: Event }
  /** Reports that some events after the cursor have expired and cannot be read. */
  | { readonly kind: 'truncated' }

export interface FollowOptions {
  readonly filter?: EventFilter
  /** The cursor of the last known event; the stream starts after it. */
  readonly after: string
  readonly signal?: AbortSignal
}

export async function* followEvents(
  connection: Connection,
  { filter = {}, after, signal }: FollowOptions,
): AsyncGenerator<EventStreamItem, void, void> {
  const stream = { path: '/events/stream', query: { ...filter }, after, signal }
  for await (const item of followMessages(connection, stream)) {
    if (item.kind === 'resuming' || item.kind === 'failed') yield item
    if (item.kind !== 'message') continue
    const { type, id, data } = item.message
    if (type === 'truncated') yield { kind: 'truncated' }
    else if (id !== undefined && data !== undefined)
      yield { kind: 'event', cursor: id, event: decodeOpen(eventShape, JSON.parse(data)) }
  }
}

// Follows events as they occur. After a broken connection the stream resumes from the last complete event, so that no
// event is lost or repeated (docs/design/events.md#delivery).

import { decodeOpen, type Event, eventShape } from '@holdfast/contract'
import type { Connection } from './connection.ts'
import { createMessageParser } from './event-source.ts'
import { openStream, type StreamEnd, type TextStream } from './open-stream.ts'
import type { ApiCall } from './request.ts'
import type { Failure } from './result.ts'
import { backOff, isFinal } from './resume.ts'

export interface EventFilter {
  readonly type?: string | undefined
  readonly subject?: string | undefined
  readonly severity?: string | undefined
}

export type EventStreamItem =
  | { readonly kind: 'event'; readonly cursor: string; readonly event: Event }
  /** Reports that some events after the cursor have expired and cannot be read. */
  | { readonly kind: 'truncated' }
  /** Reports that the stream broke and is being resumed. */
  | { readonly kind: 'resuming'; readonly reason: string }
  /** The final item of a stream: reports that the stream cannot be resumed. */
  | { readonly kind: 'failed'; readonly failure: Failure }

export interface FollowOptions {
  readonly filter?: EventFilter
  /** The cursor of the last known event; the stream starts after it. */
  readonly after: string
  readonly signal?: AbortSignal
}

/** Content type and idle timeout of the event stream. The server sends at least a heartbeat every 15 s. */
const FORM = { type: 'text/event-stream', idleMs: 45_000 } as const

export async function* followEvents(
  connection: Connection,
  { filter = {}, after, signal = connection.signal }: FollowOptions,
): AsyncGenerator<EventStreamItem, void, void> {
  let cursor = after
  let failures = 0
  while (signal?.aborted !== true) {
    const opened = await openStream(connection, streamCall(filter, cursor, signal), FORM)
    if (!opened.ok && isFinal(opened.failure, failures)) return yield* reportFailure(opened.failure)
    if (opened.ok) {
      const end = yield* readEvents(opened.value, (reached) => {
        cursor = reached
        failures = 0
      })
      if (end.kind === 'interrupted') return
      yield { kind: 'resuming', reason: end.kind === 'cut' ? end.reason : 'the server ended the stream' }
    }
    await backOff(failures, connection, signal)
    failures += 1
  }
}

function streamCall(filter: EventFilter, cursor: string, signal: AbortSignal | undefined): ApiCall {
  return {
    method: 'GET',
    path: '/events/stream',
    query: { ...filter },
    headers: { accept: FORM.type, 'last-event-id': cursor },
    repeat: 'safe',
    signal,
  }
}

function* reportFailure(failure: Failure): Generator<EventStreamItem, void, void> {
  if (failure.kind !== 'interrupted') yield { kind: 'failed', failure }
}

async function* readEvents(
  stream: TextStream,
  onReached: (cursor: string) => void,
): AsyncGenerator<EventStreamItem, StreamEnd, void> {
  const parser = createMessageParser()
  for (;;) {
    const { done, value } = await stream.next()
    if (done === true) return value
    for (const { type, id, data } of parser.push(value)) {
      if (type === 'truncated') yield { kind: 'truncated' }
      else if (id !== undefined && data !== undefined)
        yield { kind: 'event', cursor: id, event: decodeOpen(eventShape, JSON.parse(data)) }
      if (id !== undefined) onReached(id)
    }
  }
}

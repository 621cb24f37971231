// Events as they happen, resumed after every cut from the last one that arrived whole: none lost, none twice. SPEC 6,
// DECISIONS 1 and 7.

import { decodeKnown, type Event, eventShape } from '@holdfast/contract'
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
  /** Some of what happened after the cursor is kept no more. */
  | { readonly kind: 'truncated' }
  /** The stream broke and is taken up again. */
  | { readonly kind: 'resuming'; readonly reason: string }
  /** The last word: it cannot be taken up. */
  | { readonly kind: 'failed'; readonly failure: Failure }

export interface FollowOptions {
  readonly filter?: EventFilter
  /** The cursor of the last event that is known; what follows it comes first. */
  readonly after: string
  readonly signal?: AbortSignal
}

/** The server says something at least every 15 s. */
const FORM = { type: 'text/event-stream', idleMs: 45_000 } as const

export async function* followEvents(
  connection: Connection,
  { filter = {}, after, signal = connection.signal }: FollowOptions,
): AsyncGenerator<EventStreamItem, void, void> {
  let cursor = after
  let failures = 0
  while (signal?.aborted !== true) {
    const opened = await openStream(connection, streamCall(filter, cursor, signal), FORM)
    if (!opened.ok && isFinal(opened.failure, failures)) return yield* giveUp(opened.failure)
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

function* giveUp(failure: Failure): Generator<EventStreamItem, void, void> {
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
        yield { kind: 'event', cursor: id, event: decodeKnown(eventShape, JSON.parse(data)) }
      if (id !== undefined) onReached(id)
    }
  }
}

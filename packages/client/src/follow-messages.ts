// Follows a stream of Server-Sent Events. After a broken connection the stream resumes after the last complete message, so
// that no message is lost or repeated.

import type { Connection } from './connection.ts'
import { createMessageParser, type ServerSentMessage } from './event-source.ts'
import { openStream, type StreamEnd, type TextStream } from './open-stream.ts'
import type { ApiCall } from './request.ts'
import type { Failure } from './result.ts'
import { backOff, isFinal } from './resume.ts'

export type StreamNotice =
  /** Reports that the stream broke and is being resumed. */
  | { readonly kind: 'resuming'; readonly reason: string }
  /** The final item of a stream: reports that the stream cannot be resumed. */
  | { readonly kind: 'failed'; readonly failure: Failure }

export type MessageStreamItem =
  | StreamNotice
  /** Reports that the connection is open. */
  | { readonly kind: 'opened' }
  | { readonly kind: 'message'; readonly message: ServerSentMessage }

export interface FollowedStream {
  readonly path: string
  readonly query: NonNullable<ApiCall['query']>
  /** The id of the last known message; absent: the stream starts now. */
  readonly after: string | undefined
  readonly signal: AbortSignal | undefined
}

/** Content type and idle timeout of the streams. The server sends at least a heartbeat every 15 s. */
const FORM = { type: 'text/event-stream', idleMs: 45_000 } as const

export async function* followMessages(
  connection: Connection,
  { path, query, after, signal = connection.signal }: FollowedStream,
): AsyncGenerator<MessageStreamItem, void, void> {
  let cursor = after
  let failures = 0
  while (signal?.aborted !== true) {
    const headers = { accept: FORM.type, ...(cursor === undefined ? {} : { 'last-event-id': cursor }) }
    const call: ApiCall = { method: 'GET', path, query, headers, repeat: 'safe', signal }
    const opened = await openStream(connection, call, FORM)
    if (!opened.ok && isFinal(opened.failure, failures)) return yield* reportFailure(opened.failure)
    if (opened.ok) {
      yield { kind: 'opened' }
      const end = yield* readMessages(opened.value, (reached) => {
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

function* reportFailure(failure: Failure): Generator<StreamNotice, void, void> {
  if (failure.kind !== 'interrupted') yield { kind: 'failed', failure }
}

async function* readMessages(
  stream: TextStream,
  onReached: (cursor: string) => void,
): AsyncGenerator<MessageStreamItem, StreamEnd, void> {
  const parser = createMessageParser()
  for (;;) {
    const { done, value } = await stream.next()
    if (done === true) return value
    for (const message of parser.push(value)) {
      yield { kind: 'message', message }
      if (message.id !== undefined) onReached(message.id)
    }
  }
}

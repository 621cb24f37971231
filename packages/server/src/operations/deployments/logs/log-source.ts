// The log stream of one container from its node: lines with times, in order. The node may send only as many bytes as it
// has credit for; reading a line gives the node new credit.

import { STREAM_HEADER_BYTES, type StreamError } from '@holdfast/contract'
import type { NodeStream, OpenNodeStream, StreamRequest } from '../../../ports/node-streams.ts'
import { createLogBuffer, type HeldLine } from './log-buffer.ts'
import type { LogTarget } from './log-targets.ts'

/** The most log bytes of one container that are in transit or buffered. */
const WINDOW_BYTES = 128 * 1024
/** Number of log bytes that must be read before the node gets credit to send as many further bytes. */
const CREDIT_BYTES = WINDOW_BYTES / 4
/** Maximum length of a log line; longer lines are cut. Unfinished lines of both streams must fit into WINDOW_BYTES. */
const MAX_LINE_BYTES = WINDOW_BYTES / 4
const FULL_BYTES = WINDOW_BYTES / 2

export interface LogSource {
  readonly target: LogTarget
  readonly lines: readonly HeldLine[]
  /** True if so many log bytes are buffered that the node soon has no credit to send more. */
  readonly full: boolean
  /** True after the stream has ended; buffered lines may remain. */
  readonly ended: boolean
  /** Why the stream ended; undefined if the log was complete. */
  readonly error: StreamError | undefined
  take(): HeldLine | undefined
  /** Ends the stream if the node has credit and has sent nothing for `forMs` milliseconds. */
  endIfSilent(forMs: number): void
  close(): void
}

export type LogOptions = Pick<StreamRequest, 'follow' | 'tail' | 'since' | 'previous'>

/** Opens the log stream of a container. `onUpdate` is called for each frame and at the end of the stream. */
export function openLogSource(
  openStream: OpenNodeStream,
  target: LogTarget,
  options: LogOptions,
  onUpdate: () => void,
): LogSource {
  const held = createLogBuffer(MAX_LINE_BYTES)
  let consumed = 0
  let ended = false
  let error: StreamError | undefined
  let receivedAt = performance.now()
  const returnCredit = (bytes: number): void => {
    consumed += bytes
    if (consumed < CREDIT_BYTES) return
    stream.credit(consumed)
    consumed = 0
  }
  const stream: NodeStream = openStream(
    target.tenant,
    target.nodeId,
    { kind: 'logs', assignmentId: target.assignmentId, ...options },
    {
      data(channel, payload) {
        receivedAt = performance.now()
        returnCredit(STREAM_HEADER_BYTES)
        if (!held.addFrame(channel, payload)) returnCredit(payload.length)
        onUpdate()
      },
      room() {},
      end(end) {
        ended = true
        error = end.error
        onUpdate()
      },
    },
  )
  stream.credit(WINDOW_BYTES)
  return {
    target,
    lines: held.lines,
    get full() {
      return held.bytes >= FULL_BYTES
    },
    get ended() {
      return ended
    },
    get error() {
      return error
    },
    take() {
      const line = held.take()
      if (line !== undefined) returnCredit(line.bytes)
      return line
    },
    endIfSilent(forMs) {
      // While lines are buffered, the node may have no credit and wait for the reader, so its silence is not a failure.
      if (ended || held.lines.length > 0 || performance.now() - receivedAt < forMs) return
      stream.close()
      ended = true
      error = 'node_unreachable'
      onUpdate()
    },
    close: stream.close,
  }
}

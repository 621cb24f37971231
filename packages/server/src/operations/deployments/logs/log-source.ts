// The log stream of one container from its node: lines with times, in order. The node sends only as much as its credit
// allows; reading a line returns credit.

import { STREAM_HEADER_BYTES, type StreamError } from '@holdfast/contract'
import type { NodeStream, OpenNodeStream, StreamRequest } from '../../../ports/node-streams.ts'
import { createLogBuffer, type HeldLine } from './log-buffer.ts'
import type { LogTarget } from './log-targets.ts'

/** The most bytes of one container in transit and buffered. */
const WINDOW_BYTES = 128 * 1024
/** Credit is returned in pieces of this size. */
const CREDIT_BYTES = WINDOW_BYTES / 4
/** Longer lines are cut. An unfinished line per stream and a piece of credit must fit, or the node could never continue. */
const MAX_LINE_BYTES = WINDOW_BYTES / 4
const FULL_BYTES = WINDOW_BYTES / 2

export interface LogSource {
  readonly target: LogTarget
  readonly lines: readonly HeldLine[]
  /** So much is buffered that the node soon runs out of credit. */
  readonly full: boolean
  /** The stream has ended; buffered lines may remain. */
  readonly ended: boolean
  /** Why it ended, unless the log was complete. */
  readonly error: StreamError | undefined
  take(): HeldLine | undefined
  /** Ends the stream if its node has credit and has sent nothing for this long. */
  endIfSilent(forMs: number): void
  close(): void
}

export type LogOptions = Pick<StreamRequest, 'follow' | 'tail' | 'since'>

/** `onUpdate` is called for each frame and at the end. */
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
      // A node with unread lines here may be out of credit and waits for the reader.
      if (ended || held.lines.length > 0 || performance.now() - receivedAt < forMs) return
      stream.close()
      ended = true
      error = 'node_unreachable'
      onUpdate()
    },
    close: stream.close,
  }
}

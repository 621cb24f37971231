// The log of one container as it comes from its node: lines with their times, in order, held no further than the credit
// that was given. Who takes a line gives its room back.

import { STREAM_HEADER_BYTES, type StreamError } from '@holdfast/contract'
import type { NodeStream, OpenNodeStream, StreamRequest } from '../../../ports/node-streams.ts'
import { createLogBuffer, type HeldLine } from './log-buffer.ts'
import type { LogTarget } from './log-targets.ts'

/** On its way and held here, of one container. */
const WINDOW_BYTES = 128 * 1024
/** Credit is given back in pieces of this size. */
const CREDIT_BYTES = WINDOW_BYTES / 4
/** A line without an end is cut: one in each stream and a piece of credit must leave room, or the node could never end it. */
const MAX_LINE_BYTES = WINDOW_BYTES / 4
const FULL_BYTES = WINDOW_BYTES / 2

export interface LogSource {
  readonly target: LogTarget
  readonly lines: readonly HeldLine[]
  /** So much is held that its node soon may send no more. */
  readonly full: boolean
  /** No more lines come. */
  readonly ended: boolean
  /** Why it ended, where not because all was said. */
  readonly error: StreamError | undefined
  take(): HeldLine | undefined
  /** Ends it where its node has said nothing for so long, though it may. */
  endIfSilent(forMs: number): void
  close(): void
}

export type LogOptions = Pick<StreamRequest, 'follow' | 'tail' | 'since'>

/** `onNews`: a line has come, or the end. */
export function openLogSource(
  openStream: OpenNodeStream,
  target: LogTarget,
  wish: LogOptions,
  onNews: () => void,
): LogSource {
  const held = createLogBuffer(MAX_LINE_BYTES)
  let consumed = 0
  let ended = false
  let error: StreamError | undefined
  let heardAt = performance.now()
  const giveBack = (bytes: number): void => {
    consumed += bytes
    if (consumed < CREDIT_BYTES) return
    stream.credit(consumed)
    consumed = 0
  }
  const stream: NodeStream = openStream(
    target.tenant,
    target.nodeId,
    { kind: 'logs', assignmentId: target.assignmentId, ...wish },
    {
      data(channel, payload) {
        heardAt = performance.now()
        giveBack(STREAM_HEADER_BYTES)
        if (!held.takeFrame(channel, payload)) giveBack(payload.length)
        onNews()
      },
      room() {},
      end(end) {
        ended = true
        error = end.error
        onNews()
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
      if (line !== undefined) giveBack(line.bytes)
      return line
    },
    endIfSilent(forMs) {
      // Who has lines here may be out of credit, and waits for us.
      if (ended || held.lines.length > 0 || performance.now() - heardAt < forMs) return
      stream.close()
      ended = true
      error = 'node_unreachable'
      onNews()
    },
    close: stream.close,
  }
}

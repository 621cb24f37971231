// The log of one container as it comes from its node: lines with their times, in order, held no further than the credit
// that was given. Who takes a line gives its room back.

import {
  decode,
  integer,
  object,
  STREAM_CHANNELS,
  STREAM_HEADER_BYTES,
  type StreamError,
} from '@holdfast/contract'
import type { NodeStream, OpenNodeStream, StreamRequest } from '../../ports/node-streams.ts'
import type { LogTarget } from './log-targets.ts'

/** On its way and held here, of one container. */
const WINDOW_BYTES = 128 * 1024
/** Credit is given back in pieces of this size. */
const CREDIT_BYTES = WINDOW_BYTES / 4
/** A line without an end is cut: one in each stream and a piece of credit must leave room, or the node could never end it. */
const MAX_LINE_BYTES = WINDOW_BYTES / 4
const FULL_BYTES = WINDOW_BYTES / 2
const LINE_FEED = 0x0a

export interface HeldLine {
  /** As the engine wrote it, to the nanosecond; of equal length, so that texts compare as times do. */
  readonly time: string
  readonly bytes: number
  readonly what:
    | { readonly stream: 'stdout' | 'stderr'; readonly text: string }
    | { readonly skipped: { readonly lines: number; readonly bytes: number } }
}

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

export type LogWish = Pick<StreamRequest, 'follow' | 'tail' | 'since'>

const skipShape = object({ lines: integer(), bytes: integer() })

/** `onNews`: a line has come, or the end. */
export function openLogSource(
  openStream: OpenNodeStream,
  target: LogTarget,
  wish: LogWish,
  onNews: () => void,
): LogSource {
  const held = createShelf()
  const partial = { stdout: createPartial(), stderr: createPartial() }
  let time = ''
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
  const keep = (what: HeldLine['what'], bytes: number): void => held.put({ time, bytes, what })
  const keepLine = (channel: 'stdout' | 'stderr', line: Buffer): void => {
    const read = readLine(line)
    time = read.time === '' ? time : read.time
    keep({ stream: channel, text: read.text }, line.length)
  }
  const stream: NodeStream = openStream(
    target.tenant,
    target.nodeId,
    { kind: 'logs', assignmentId: target.assignmentId, ...wish },
    {
      data(channel, payload) {
        heardAt = performance.now()
        giveBack(STREAM_HEADER_BYTES)
        if (channel === STREAM_CHANNELS.stdout) partial.stdout(payload, (line) => keepLine('stdout', line))
        else if (channel === STREAM_CHANNELS.stderr)
          partial.stderr(payload, (line) => keepLine('stderr', line))
        else if (channel === STREAM_CHANNELS.skipped) keep({ skipped: readSkip(payload) }, payload.length)
        else giveBack(payload.length)
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

/** Lines that nobody has taken yet, and how much they are. */
function createShelf() {
  const lines: HeldLine[] = []
  let bytes = 0
  return {
    lines,
    get bytes() {
      return bytes
    },
    put(line: HeldLine): void {
      bytes += line.bytes
      lines.push(line)
    },
    take(): HeldLine | undefined {
      const line = lines.shift()
      bytes -= line?.bytes ?? 0
      return line
    },
  }
}

/** Gives whole lines, with what was left of the last frame before them. */
function createPartial(): (payload: Buffer, onLine: (line: Buffer) => void) => void {
  let rest: Buffer = Buffer.alloc(0)
  return (payload, onLine) => {
    let from = 0
    for (let at = payload.indexOf(LINE_FEED); at >= 0; at = payload.indexOf(LINE_FEED, from)) {
      const line = payload.subarray(from, at + 1)
      onLine(rest.length === 0 ? line : Buffer.concat([rest, line]))
      rest = Buffer.alloc(0)
      from = at + 1
    }
    if (from < payload.length) rest = Buffer.concat([rest, payload.subarray(from)])
    if (rest.length < MAX_LINE_BYTES) return
    onLine(rest)
    rest = Buffer.alloc(0)
  }
}

const TIMED = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z) /
const TIME_LENGTH = 31

/** A line without a time keeps its text: it is told at the time of the one before it. */
function readLine(line: Buffer): { time: string; text: string } {
  const whole = line.toString('utf8')
  const text = whole.endsWith('\n') ? whole.slice(0, whole.endsWith('\r\n') ? -2 : -1) : whole
  const time = TIMED.exec(text)?.[1]
  return time === undefined ? { time: '', text } : { time, text: text.slice(TIME_LENGTH) }
}

/** A node that counts wrong is believed that something is missing. */
function readSkip(payload: Buffer): { lines: number; bytes: number } {
  try {
    return decode(skipShape, JSON.parse(payload.toString('utf8')))
  } catch {
    return { lines: 0, bytes: 0 }
  }
}

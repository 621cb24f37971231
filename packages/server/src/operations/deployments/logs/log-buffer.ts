// Assembles the log lines of one container from received frames, and buffers the lines until they are read.

import { decodeOpen, integer, object, STREAM_CHANNELS } from '@holdfast/contract'

const LINE_FEED = 0x0a

export interface HeldLine {
  /** Timestamp of a log line, to the nanosecond. All timestamps have one length, so comparing texts compares times. */
  readonly time: string
  readonly bytes: number
  readonly what:
    | { readonly stream: 'stdout' | 'stderr'; readonly text: string }
    | { readonly skipped: { readonly lines: number; readonly bytes: number } }
}

const skipShape = object({ lines: integer(), bytes: integer() })

export interface LogBuffer {
  readonly lines: readonly HeldLine[]
  readonly bytes: number
  /** Adds one received frame. Returns false and drops the frame if the frame's channel carries no log lines. */
  addFrame(channel: number, payload: Buffer): boolean
  take(): HeldLine | undefined
}

export function createLogBuffer(maxLineBytes: number): LogBuffer {
  const lines: HeldLine[] = []
  const partial = { stdout: createPartial(maxLineBytes), stderr: createPartial(maxLineBytes) }
  let time = ''
  let bytes = 0
  const keep = (what: HeldLine['what'], size: number): void => {
    bytes += size
    lines.push({ time, bytes: size, what })
  }
  const keepLines = (stream: 'stdout' | 'stderr', payload: Buffer): void =>
    partial[stream](payload, (line) => {
      const read = readLine(line)
      time = read.time === '' ? time : read.time
      keep({ stream, text: read.text }, line.length)
    })
  return {
    lines,
    get bytes() {
      return bytes
    },
    addFrame(channel, payload) {
      if (channel === STREAM_CHANNELS.stdout) keepLines('stdout', payload)
      else if (channel === STREAM_CHANNELS.stderr) keepLines('stderr', payload)
      else if (channel === STREAM_CHANNELS.skipped) keep({ skipped: readSkip(payload) }, payload.length)
      else return false
      return true
    },
    take() {
      const line = lines.shift()
      bytes -= line?.bytes ?? 0
      return line
    },
  }
}

/** Assembles complete lines from frames; the unfinished end of a frame is continued by the next frame. */
function createPartial(maxLineBytes: number): (payload: Buffer, onLine: (line: Buffer) => void) => void {
  let unfinished: Buffer = Buffer.alloc(0)
  return (payload, onLine) => {
    let from = 0
    for (let at = payload.indexOf(LINE_FEED); at >= 0; at = payload.indexOf(LINE_FEED, from)) {
      const line = payload.subarray(from, at + 1)
      onLine(unfinished.length === 0 ? line : Buffer.concat([unfinished, line]))
      unfinished = Buffer.alloc(0)
      from = at + 1
    }
    if (from < payload.length) unfinished = Buffer.concat([unfinished, payload.subarray(from)])
    if (unfinished.length < maxLineBytes) return
    onLine(unfinished)
    unfinished = Buffer.alloc(0)
  }
}

const TIMED = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z) /
const TIME_LENGTH = 31

/** Splits a log line into time and text. The time is empty if the line has no timestamp. */
function readLine(line: Buffer): { time: string; text: string } {
  const whole = line.toString('utf8')
  const text = whole.endsWith('\n') ? whole.slice(0, whole.endsWith('\r\n') ? -2 : -1) : whole
  const time = TIMED.exec(text)?.[1]
  return time === undefined ? { time: '', text } : { time, text: text.slice(TIME_LENGTH) }
}

/** Reads how many lines and bytes the node skipped; 0 if the frame is malformed, so that the gap is still shown. */
function readSkip(payload: Buffer): { lines: number; bytes: number } {
  try {
    return decodeOpen(skipShape, JSON.parse(payload.toString('utf8')))
  } catch {
    return { lines: 0, bytes: 0 }
  }
}

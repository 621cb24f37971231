// Reads the logs of a container from the engine, each line with its timestamp. The engine keeps the unread lines of a
// paused stream, so a slow reader needs no memory in the agent.

import type { EngineStream, LogRequest, LogSink, OutputChannel } from '../../ports/engine.ts'
import type { Caller } from './call.ts'
import { createDemultiplexer } from './demultiplex.ts'
import { openRawResponse } from './raw-response.ts'

const OPEN_MS = 10_000
const LINE_FEED = 0x0a
/** Longest log line that is kept whole; longer lines are cut. The engine itself cuts at 16 KiB and adds a timestamp. */
const MAX_LINE_BYTES = 32 * 1024

export async function readLogs(
  caller: Caller,
  socketPath: string,
  containerId: string,
  request: LogRequest,
  sink: LogSink,
): Promise<EngineStream> {
  const path = `/v${await caller.apiVersion()}/containers/${containerId}/logs?${queryOf(request)}`
  return openRawResponse(
    { socketPath, path, deadlineMs: OPEN_MS },
    { data: createDemultiplexer(createLines(sink)), end: sink.end },
  )
}

function queryOf({ follow, tail, since }: LogRequest): string {
  return new URLSearchParams({
    stdout: '1',
    stderr: '1',
    timestamps: '1',
    follow: follow ? '1' : '0',
    tail: tail === undefined ? 'all' : String(tail),
    ...(since === undefined ? {} : { since: engineTime(since) }),
  }).toString()
}

const FRACTION = /\.(\d{1,9})/

/** Converts a time to the engine's format: seconds and nanoseconds as text, because a number would lose nanoseconds. */
function engineTime(time: string): string {
  const fraction = FRACTION.exec(time)?.[1] ?? ''
  const seconds = Math.floor(Date.parse(time.replace(FRACTION, '')) / 1000)
  return `${seconds}.${fraction.padEnd(9, '0')}`
}

/** Converts frames to log lines. Each frame is one line; adds a line feed to a line that the engine cut. */
function createLines(sink: LogSink) {
  const held = Buffer.allocUnsafe(MAX_LINE_BYTES)
  let filled = 0
  return {
    part(channel: OutputChannel, bytes: Buffer, last: boolean): void {
      if (last && filled === 0 && bytes.at(-1) === LINE_FEED) {
        sink.entry(channel, bytes)
        return
      }
      filled += bytes.copy(held, filled, 0, MAX_LINE_BYTES - 1 - filled)
      if (!last) return
      if (held[filled - 1] !== LINE_FEED) {
        held[filled] = LINE_FEED
        filled += 1
      }
      sink.entry(channel, held.subarray(0, filled))
      filled = 0
    },
  }
}

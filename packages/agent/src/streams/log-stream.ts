// The logs of one container on their way to a reader. Logs that are kept are read at the reader's pace. Logs that are
// followed are read as they come: where the reader is too slow for them whole lines are left out, counted, and told at
// the place where they are missing, so that the reader stays near the present and the node's memory stays bounded.

import { type Open, STREAM_CHANNELS } from '@holdfast/contract'
import type { Engine, EngineStream, LogRequest, LogSink } from '../ports/engine.ts'
import type { Outgoing } from './outgoing.ts'
import type { NodeStream, StreamEnd } from './stream.ts'

/** Held for a reader at most, and how little of it may be left before more is taken. */
const FULL_BYTES = 512 * 1024
const LOW_BYTES = 128 * 1024

export async function openLogStream(
  engine: Pick<Engine, 'readLogs'>,
  containerId: string,
  open: Open,
  outgoing: Outgoing,
  onEnd: (end: StreamEnd) => void,
): Promise<NodeStream> {
  const request = logRequest(open)
  const filling = request.follow ? fillWithGaps(outgoing) : fillPatiently(outgoing, () => source)
  const sink: LogSink = {
    entry: filling.entry,
    end(whole) {
      filling.settle()
      onEnd(whole ? {} : { error: 'engine_unavailable' })
    },
  }
  let source: EngineStream | undefined
  source = await engine.readLogs(containerId, request, sink)
  return { onRoom: filling.onRoom, input() {}, close: () => source?.close() }
}

const logRequest = ({ follow = false, tail, since }: Open): LogRequest => ({
  follow,
  ...(tail === undefined ? {} : { tail }),
  ...(since === undefined ? {} : { since }),
})

interface Filling extends Pick<LogSink, 'entry'> {
  onRoom(): void
  /** No more lines come. */
  settle(): void
}

function fillPatiently(outgoing: Outgoing, source: () => EngineStream | undefined): Filling {
  let paused = false
  return {
    entry(channel, line) {
      outgoing.push(STREAM_CHANNELS[channel], line)
      if (paused || outgoing.queuedBytes < FULL_BYTES) return
      paused = true
      source()?.pause()
    },
    onRoom() {
      if (!paused || outgoing.queuedBytes > LOW_BYTES) return
      paused = false
      source()?.resume()
    },
    settle() {},
  }
}

function fillWithGaps(outgoing: Outgoing): Filling {
  let lines = 0
  let bytes = 0
  const settle = (): void => {
    if (lines === 0) return
    const told = Buffer.from(JSON.stringify({ lines, bytes }))
    lines = 0
    bytes = 0
    outgoing.push(STREAM_CHANNELS.skipped, told)
  }
  return {
    entry(channel, line) {
      // Once a line is left out the next ones are too, until there is room for many: few long gaps, not many short ones.
      if (lines > 0 || outgoing.queuedBytes + line.length > FULL_BYTES) {
        lines += 1
        bytes += line.length
      } else outgoing.push(STREAM_CHANNELS[channel], line)
    },
    onRoom() {
      if (outgoing.queuedBytes <= LOW_BYTES) settle()
    },
    settle,
  }
}

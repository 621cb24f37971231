// Streams the logs of one container. Stored logs are read at the reader's speed. Followed logs are read as they are
// written: if the reader is too slow, whole lines are skipped and the stream reports their number at that place, so that
// the reader stays current and memory stays bounded. See docs/design/agent.md#streams.

import { defined, type Open, STREAM_CHANNELS } from '@holdfast/contract'
import type { Engine, EngineStream, LogRequest, LogSink } from '../ports/engine.ts'
import type { Outgoing } from './outgoing.ts'
import type { NodeStream, StreamEnd } from './stream.ts'

/** Most bytes that are buffered for a reader, and the number of buffered bytes below which reading resumes. */
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
    end(complete) {
      filling.settle()
      onEnd(complete ? {} : { error: 'engine_unavailable' })
    },
  }
  let source: EngineStream | undefined
  source = await engine.readLogs(containerId, request, sink)
  return { onRoom: filling.onRoom, input() {}, close: () => source?.close() }
}

const logRequest = ({ follow = false, tail, since }: Open): LogRequest => ({
  follow,
  ...defined({ tail, since }),
})

interface Filling extends Pick<LogSink, 'entry'> {
  onRoom(): void
  /** Called when the log source has ended. */
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
    const skipped = Buffer.from(JSON.stringify({ lines, bytes }))
    lines = 0
    bytes = 0
    outgoing.push(STREAM_CHANNELS.skipped, skipped)
  }
  return {
    entry(channel, line) {
      // After a skipped line, lines are skipped until the buffer is nearly empty, so that gaps are few and long.
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

// The events of a tenant as Server-Sent Events: `id` is the cursor, `event` the type, `data` the event in the form of the
// API. The reader controls the speed; a stalled reader is disconnected and may resume with its Last-Event-ID.

import { Readable } from 'node:stream'
import type { EventFollower, FollowedPart } from '../../operations/events/follow-events.ts'
import type { StreamedResponse } from '../endpoint.ts'

export const EVENT_STREAM = 'text/event-stream'

const HEARTBEAT_MS = 15_000
/** Number of heartbeats after which a reader that has read nothing is disconnected. */
const STALLED_HEARTBEATS = 4
const RETRY_MS = 1_000
/** Maximum number of event bytes that are buffered for the reader. */
const READ_AHEAD = 64 * 1024

export interface EventStream extends StreamedResponse {
  /** Wakes the stream. The owner of the follower calls this function when the follower has new events. */
  arrived(): void
}

export function openEventStream(follower: EventFollower): EventStream {
  let ended = false
  const isOver = () => ended || stream.destroyed
  const pump = createPump(follower, (text) => void (isOver() || stream.push(text)), isOver)
  const stream = new Readable({
    highWaterMark: READ_AHEAD,
    read: pump.resume,
    destroy(error, done) {
      clearInterval(heart)
      follower.close()
      done(error)
    },
  })
  let stalled = 0
  const heart = setInterval(() => {
    if (isOver()) return
    stalled = stream.readableLength === 0 || pump.wasRead() ? 0 : stalled + 1
    if (stalled >= STALLED_HEARTBEATS) stream.destroy()
    else if (stream.readableLength === 0) stream.push(`: still here\n${positionText(follower)}\n`)
  }, HEARTBEAT_MS)
  stream.push(`retry: ${RETRY_MS}\n${positionText(follower)}\n`)
  return {
    status: 200,
    type: EVENT_STREAM,
    stream,
    arrived: pump.arrived,
    end() {
      if (isOver()) return
      ended = true
      stream.push(': stream ended by the server\n\n')
      stream.push(null)
    },
  }
}

interface Pump {
  /** Reads further events; called when the reader can accept more data. */
  resume(): void
  /** Reports whether the reader has read since the previous call. */
  wasRead(): boolean
  arrived(): void
}

/** Moves events from the follower to the reader while the reader accepts more; without events it waits for new events. */
function createPump(follower: EventFollower, push: (text: string) => void, isOver: () => boolean): Pump {
  let state: 'idle' | 'reading' | 'waiting' = 'idle'
  let missed = false
  let hasRead = false
  const move = async (): Promise<void> => {
    if (state === 'reading' || isOver()) return
    state = 'reading'
    missed = false
    const { parts, more } = await follower.take()
    const text = parts.map(partText).join('')
    state = text === '' ? 'waiting' : 'idle'
    // The stream calls `resume` only after a push, so after a read without events `run` starts the next read.
    if (text !== '') push(text)
    else if (more || missed) run()
  }
  // If the store is unavailable, reading events is retried after a pause; the reader keeps its position.
  const run = (): void => {
    move().catch(() => {
      state = 'idle'
      setTimeout(run, RETRY_MS).unref()
    })
  }
  return {
    resume() {
      hasRead = true
      run()
    },
    wasRead() {
      const result = hasRead
      hasRead = false
      return result
    },
    arrived() {
      missed = true
      if (state === 'waiting') run()
    },
  }
}

/** An SSE id without data: the reader receives no event but remembers the position. */
function positionText({ reached }: EventFollower): string {
  return reached === undefined ? '' : `id: ${reached}\n`
}

function partText(part: FollowedPart): string {
  if (part.kind === 'truncated') return `event: truncated\ndata: ${JSON.stringify(part.truncated)}\n\n`
  const { event } = part
  return `id: ${event.cursor}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}

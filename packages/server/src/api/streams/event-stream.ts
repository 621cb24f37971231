// The events of a tenant as Server-Sent Events: `id` is the cursor, `event` the type, `data` the event as lists show it.
// DECISIONS 1. The reader sets the pace; one that stands still is let go and goes on later from its Last-Event-ID.

import { Readable } from 'node:stream'
import type { EventFollower, Followed } from '../../operations/events/follow-events.ts'
import type { StreamedAnswer } from '../endpoint.ts'

export const EVENT_STREAM = 'text/event-stream'

const HEARTBEAT_MS = 15_000
/** So many heartbeats may pass while the reader takes nothing. */
const STALLED_HEARTBEATS = 4
const RETRY_MS = 1_000
/** Bytes that are made ready for a reader before it takes them. */
const READ_AHEAD = 64 * 1024

export interface EventStream extends StreamedAnswer {
  /** Something came that the follower has now. */
  arrived(): void
}

export function openEventStream(follower: EventFollower): EventStream {
  let ended = false
  const isOver = () => ended || stream.destroyed
  const pump = createPump(follower, (text) => void (isOver() || stream.push(text)), isOver)
  const stream = new Readable({
    highWaterMark: READ_AHEAD,
    read: pump.wanted,
    destroy(error, done) {
      clearInterval(heart)
      follower.close()
      done(error)
    },
  })
  let stalled = 0
  const heart = setInterval(() => {
    if (isOver()) return
    stalled = stream.readableLength === 0 || pump.wasWanted() ? 0 : stalled + 1
    if (stalled >= STALLED_HEARTBEATS) stream.destroy()
    else if (stream.readableLength === 0) stream.push(`: still here\n${placeText(follower)}\n`)
  }, HEARTBEAT_MS)
  stream.push(`retry: ${RETRY_MS}\n${placeText(follower)}\n`)
  return {
    ...{ status: 200, type: EVENT_STREAM, stream },
    arrived: pump.arrived,
    end() {
      if (isOver()) return
      ended = true
      stream.push(': the server ends this stream\n\n')
      stream.push(null)
    },
  }
}

interface Pump {
  /** The reader has room for more. */
  wanted(): void
  /** Whether it had since this was asked last. */
  wasWanted(): boolean
  arrived(): void
}

/** Takes from the follower while the reader wants more; when there is nothing, what arrives next sets it going again. */
function createPump(follower: EventFollower, push: (text: string) => void, isOver: () => boolean): Pump {
  let state: 'idle' | 'taking' | 'waiting' = 'idle'
  let missed = false
  let asked = false
  const take = async (): Promise<void> => {
    if (state === 'taking' || isOver()) return
    state = 'taking'
    missed = false
    const { parts, more } = await follower.take()
    const text = parts.map(partText).join('')
    state = text === '' ? 'waiting' : 'idle'
    // The reader asks again once it has this; of nothing it has nothing to take.
    if (text !== '') push(text)
    else if (more || missed) run()
  }
  // A store that does not answer says nothing about events: it is asked again, and the reader keeps its place.
  const run = (): void => {
    take().catch(() => {
      state = 'idle'
      setTimeout(run, RETRY_MS).unref()
    })
  }
  return {
    wanted() {
      asked = true
      run()
    },
    wasWanted() {
      const was = asked
      asked = false
      return was
    },
    arrived() {
      missed = true
      if (state === 'waiting') run()
    },
  }
}

/** Without data it is no event for the reader, who only remembers where to go on. */
function placeText({ reached }: EventFollower): string {
  return reached === undefined ? '' : `id: ${reached}\n`
}

function partText(part: Followed): string {
  if (part.kind === 'truncated') return `event: truncated\ndata: ${JSON.stringify(part.truncated)}\n\n`
  const { event } = part
  return `id: ${event.cursor}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}

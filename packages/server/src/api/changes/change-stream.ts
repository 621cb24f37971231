// The changes of a tenant as Server-Sent Events. Changes within 100 ms are one message, in which each record is named once.
// A heartbeat proves that what the reader has is current, so it is left out while the server cannot know that.

import { Readable } from 'node:stream'
import type { ChangeFollower } from '../../operations/changes/change-log.ts'
import type { StreamedResponse } from '../endpoint.ts'
import { EVENT_STREAM } from '../streams/event-stream.ts'

const GATHER_MS = 100
/** A reader that hears nothing for two seconds can tell its user that the data may be old. */
const HEARTBEAT_MS = 1_000
const RETRY_MS = 1_000
/** A reader that reads nothing for this time is disconnected; it continues from its last revision. */
const STALLED_MS = 60_000
const READ_AHEAD = 64 * 1024

export interface ChangeStream extends StreamedResponse {
  /** Wakes the stream. The owner of the follower calls this function when there is a change. */
  changed(): void
}

export interface ChangeStreamOptions {
  /** Whether this server has every change that was acknowledged before the call. */
  isCurrent(): Promise<boolean>
  readonly gatherMs?: number
  readonly heartbeatMs?: number
}

export function openChangeStream(
  follower: ChangeFollower,
  { isCurrent, gatherMs = GATHER_MS, heartbeatMs = HEARTBEAT_MS }: ChangeStreamOptions,
): ChangeStream {
  let isEnded = false
  let timer: NodeJS.Timeout | undefined
  let lastRead = performance.now()
  const isOver = () => isEnded || stream.destroyed
  const flush = (): void => {
    timer = undefined
    // Changes wait in the follower, where each record is named once, until the reader has read what was sent.
    if (isOver() || !follower.pending || stream.readableLength > READ_AHEAD) return
    stream.push(messageText(follower))
  }
  const changed = (): void => {
    if (!isOver()) timer ??= setTimeout(flush, gatherMs)
  }
  const stream = new Readable({
    highWaterMark: READ_AHEAD,
    read() {
      lastRead = performance.now()
      if (follower.pending) changed()
    },
    destroy(error, done) {
      clearInterval(heart)
      clearTimeout(timer)
      follower.close()
      done(error)
    },
  })
  const beat = async (): Promise<void> => {
    if (stream.readableLength > 0 && performance.now() - lastRead > STALLED_MS) return void stream.destroy()
    if (stream.readableLength > 0 || !(await isCurrent()) || isOver() || follower.pending) return
    stream.push(`id: ${follower.revision}\n\n`)
  }
  const heart = setInterval(() => void beat(), heartbeatMs)
  stream.push(
    `retry: ${RETRY_MS}\n${follower.pending ? messageText(follower) : `id: ${follower.revision}\n\n`}`,
  )
  return {
    status: 200,
    type: EVENT_STREAM,
    stream,
    changed,
    end() {
      if (isOver()) return
      isEnded = true
      stream.push(': stream ended by the server\n\n')
      stream.push(null)
    },
  }
}

function messageText(follower: ChangeFollower): string {
  const { revision, resync, items } = follower.take()
  const [type, data] = resync ? ['resync', { reason: 'changes_missed' }] : ['changes', { items }]
  return `id: ${revision}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`
}

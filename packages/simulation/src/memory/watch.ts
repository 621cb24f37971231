// A watch over the log of the in-memory store: each event of its range once, in order, in whole revisions. A watch
// without connection receives nothing; after a reconnect it resumes, or reports that its history was compacted.

import { EngineError, type Watch, type WatchEvent, type WatchRequest } from '@holdfast/server/ports/key-value'
import type { EventLog } from './event-log.ts'
import { orderOf, rangeTest } from './key-order.ts'
import { type Line, later } from './line.ts'

/** How often a watch without connection tries to reconnect. */
const RECONNECT_MS = 50

interface RunningWatch {
  readonly log: EventLog
  readonly line: Line
  readonly request: WatchRequest
  readonly covers: (key: string) => boolean
  /** The first revision that the watch has not collected yet. */
  next: number
  /** Collected events that are not delivered yet; compaction does not affect them. */
  gathered: WatchEvent[]
  connected: boolean
  scheduled: boolean
  progressWanted: boolean
  closed: boolean
  unsubscribe(): void
}

/** Starts a watch. The callbacks of `request` run in order and never after `close`; they must not throw. */
export function startWatch(log: EventLog, line: Line, request: WatchRequest): Watch {
  requireWatchable(request)
  const watch: RunningWatch = {
    log,
    line,
    request,
    covers: rangeTest(request),
    next: request.startRevision,
    gathered: [],
    connected: false,
    scheduled: false,
    progressWanted: false,
    closed: false,
    unsubscribe: log.subscribe({
      onAppend: () => schedule(watch),
      beforeCompaction: () => watch.connected && gather(watch, log.revision),
    }),
  }
  schedule(watch)
  return {
    requestProgress() {
      watch.progressWanted = true
      schedule(watch)
    },
    close: () => close(watch),
  }
}

function requireWatchable({ key, rangeEnd, startRevision }: WatchRequest): void {
  if (!Number.isSafeInteger(startRevision) || startRevision < 1)
    throw new EngineError('invalid', 'no', `a watch cannot start at revision ${startRevision}`)
  if (rangeEnd !== undefined && rangeEnd !== '\0' && orderOf(rangeEnd) <= orderOf(key))
    throw new EngineError('invalid', 'no', 'the range of the watch is empty')
}

function close(watch: RunningWatch): void {
  watch.closed = true
  watch.unsubscribe()
}

/** Schedules the next message of a watch. Events that happen before the message arrives are sent in a later message. */
function schedule(watch: RunningWatch): void {
  if (watch.scheduled || watch.closed) return
  watch.scheduled = true
  const upTo = watch.log.revision
  later(watch.line.delayMs('watch'), () => arrive(watch, upTo))
}

function arrive(watch: RunningWatch, upTo: number): void {
  watch.scheduled = false
  if (watch.closed) return
  if (watch.line.closed) close(watch)
  else if (watch.line.fault('watch') !== 'none') stayCutOff(watch)
  else if (watch.next < watch.log.compacted) endCompacted(watch)
  else deliver(watch, upTo)
}

function deliver(watch: RunningWatch, upTo: number): void {
  watch.connected = true
  gather(watch, upTo)
  deliverEvents(watch)
  if (watch.progressWanted && upTo >= watch.request.startRevision - 1) deliverProgress(watch)
  if (watch.next <= watch.log.revision) schedule(watch)
}

/** Retries until the watch is connected. Undelivered events are dropped and read from the log again after that. */
function stayCutOff(watch: RunningWatch): void {
  watch.connected = false
  watch.next = watch.gathered[0]?.kv.modRevision ?? watch.next
  watch.gathered = []
  watch.scheduled = true
  setTimeout(() => arrive(watch, watch.log.revision), RECONNECT_MS)
}

function endCompacted(watch: RunningWatch): void {
  close(watch)
  watch.request.onCompacted(watch.log.compacted)
}

function gather(watch: RunningWatch, upTo: number): void {
  for (const events of watch.log.read(watch.next, upTo))
    for (const event of events) if (watch.covers(event.kv.key)) watch.gathered.push(event)
  watch.next = Math.max(watch.next, upTo + 1)
}

function deliverEvents(watch: RunningWatch): void {
  const events = watch.gathered
  const last = events.at(-1)
  watch.gathered = []
  if (last !== undefined) watch.request.onEvents(events, last.kv.modRevision)
}

function deliverProgress(watch: RunningWatch): void {
  if (watch.closed) return
  watch.progressWanted = false
  watch.request.onProgress(watch.next - 1)
}

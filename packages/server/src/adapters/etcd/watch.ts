// A watch that outlives its streams: it resumes after the last delivered revision, on the next member, until the watch is
// closed or etcd has compacted the history. No event is delivered twice or skipped (docs/design/store.md#watch).

import type { Client } from '@grpc/grpc-js'
import { EngineError, type Watch, type WatchRequest } from '../../ports/key-value.ts'
import type { Authenticator } from './authenticator.ts'
import type { WatchMessage } from './codec/decode-watch.ts'
import { metadataOf } from './metadata.ts'
import { startWatchPulse, type WatchPulse, type WatchPulseTimes } from './watch-pulse.ts'
import { openWatchStream, type WatchStream } from './watch-stream.ts'
import { makeWholeRevisions, type WholeRevisions } from './whole-revisions.ts'

export interface WatchMember {
  readonly name: string
  readonly client: Client
}

export interface WatchDeps {
  /** Opens a new connection to the etcd member at index `turn` modulo the number of members. */
  openMember(turn: number): WatchMember
  readonly authenticator: Authenticator
  readonly pulse: WatchPulseTimes
  onResume(endpoint: string, reason: string): void
  onClosed(watch: Watch): void
}

interface RunningWatch {
  readonly deps: WatchDeps
  readonly request: WatchRequest
  readonly revisions: WholeRevisions
  readonly handle: Watch
  stream: WatchStream | undefined
  pulse: WatchPulse | undefined
  retry: NodeJS.Timeout | undefined
  progressTimer: NodeJS.Timeout | undefined
  closed: boolean
  /** True after etcd has confirmed the watch on the current stream. */
  created: boolean
  progressWanted: boolean
  requestedAt: number
  turn: number
  /** Number of consecutive streams that delivered neither events nor progress. */
  emptyStreams: number
  /** Number of consecutive streams that were abandoned because they did not answer. */
  silentStreams: number
  /** If true, the next stream starts after the last delivered revision; otherwise at it (see `startRevisionOf`). */
  exact: boolean
}

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 2_000
const LONGEST_ANSWER_MS = 60_000
/** Interval of repeated progress requests. etcd catches up lagging watches ten times a second. */
const REQUEST_AGAIN_MS = 100
/** Shortest time between two progress requests, because many callers may wait for the progress of a watch at once. */
const REQUEST_INTERVAL_MS = 5
const STALE_TOKEN = /invalid auth token|revision of auth store is old/

/** Starts a watch. The callbacks of `request` are called in order and never after `close`, and must not throw. */
export function startWatch(deps: WatchDeps, request: WatchRequest): Watch {
  requireWatchable(request)
  const handle: Watch = {
    requestProgress: () => requestProgress(watch),
    close: () => close(watch),
  }
  const watch: RunningWatch = {
    deps,
    request,
    revisions: makeWholeRevisions(request.startRevision - 1),
    handle,
    stream: undefined,
    pulse: undefined,
    retry: undefined,
    progressTimer: undefined,
    closed: false,
    created: false,
    progressWanted: false,
    requestedAt: Number.NEGATIVE_INFINITY,
    turn: 0,
    emptyStreams: 0,
    silentStreams: 0,
    exact: false,
  }
  void connect(watch)
  return handle
}

/** Rejects a watch without a start revision, which could not resume, and an empty range, which etcd always rejects. */
function requireWatchable({ key, rangeEnd, startRevision }: WatchRequest): void {
  if (!Number.isSafeInteger(startRevision) || startRevision < 1)
    throw new EngineError('invalid', 'no', `a watch cannot start at revision ${startRevision}`)
  // Keys are compared as bytes, like in etcd. JavaScript orders strings with characters above U+FFFF differently.
  const isEmpty = (end: string) => end !== '\0' && Buffer.compare(Buffer.from(end), Buffer.from(key)) <= 0
  if (rangeEnd !== undefined && isEmpty(rangeEnd))
    throw new EngineError('invalid', 'no', 'the range of the watch is empty')
}

async function connect(watch: RunningWatch): Promise<void> {
  let token: string | undefined
  try {
    token = await watch.deps.authenticator.token()
  } catch (error) {
    return resume(watch, '(no member)', String(error))
  }
  if (!watch.closed) openOn(watch, watch.deps.openMember(watch.turn), token)
}

function openOn(watch: RunningWatch, member: WatchMember, token: string | undefined): void {
  const onEnd = (reason: string) => {
    if (STALE_TOKEN.test(reason)) watch.deps.authenticator.discard(token)
    resume(watch, member.name, reason)
  }
  watch.created = false
  const stream = openWatchStream({
    client: member.client,
    metadata: metadataOf(token, true),
    range: watch.request,
    startRevision: startRevisionOf(watch),
    onMessage: (message) => receive(watch, message, onEnd),
    onEnd,
  })
  watch.stream = stream
  watch.pulse = startWatchPulse(pulseTimesOf(watch), {
    probe: () => watch.created && stream.requestProgress(),
    abandon() {
      watch.silentStreams += 1
      onEnd('no answer to a progress request')
    },
  })
}

/**
 * A stream starts at the last delivered revision, not after it: etcd answers no progress request while the start revision
 * is in the future, so an idle stream would seem dead. Events that were already delivered are filtered out.
 */
function startRevisionOf({ exact, revisions }: RunningWatch): number {
  return exact ? revisions.delivered() + 1 : Math.max(1, revisions.delivered())
}

/**
 * Timeouts of the next stream. An etcd member that must first read a long history is silent for a long time, so each
 * silent stream doubles the timeout for an answer. The timeout is reset once a stream delivers events or progress.
 */
function pulseTimesOf(watch: RunningWatch): WatchPulseTimes {
  const { quietMs, answerMs } = watch.deps.pulse
  return {
    quietMs,
    get answerMs() {
      return Math.min(answerMs * 2 ** watch.silentStreams, LONGEST_ANSWER_MS)
    },
  }
}

function receive(watch: RunningWatch, message: WatchMessage, onEnd: (reason: string) => void): void {
  watch.pulse?.received()
  if (message.canceled) receiveCancel(watch, message, onEnd)
  else if (message.created) watch.created = true
  else if (message.events.length > 0) receiveEvents(watch, message)
  else receiveProgress(watch, message.revision)
}

function receiveEvents(watch: RunningWatch, message: WatchMessage): void {
  resetBackoff(watch)
  const batch = watch.revisions.accept(message.events, message.fragment)
  if (batch) watch.request.onEvents(batch.events, batch.revision)
}

function resetBackoff(watch: RunningWatch): void {
  watch.emptyStreams = 0
  watch.silentStreams = 0
  watch.exact = false
}

/** Handles a progress report. etcd reports progress up to a revision after it has sent all events up to the revision. */
function receiveProgress(watch: RunningWatch, revision: number): void {
  if (!watch.revisions.advance(revision)) return
  resetBackoff(watch)
  watch.progressWanted = false
  watch.request.onProgress(revision)
}

function receiveCancel(watch: RunningWatch, message: WatchMessage, onEnd: (reason: string) => void): void {
  const { compactRevision } = message
  const onlyDeliveredGone = !watch.exact && compactRevision <= watch.revisions.delivered() + 1
  if (compactRevision === 0) onEnd(message.cancelReason || 'canceled')
  else if (onlyDeliveredGone) {
    watch.exact = true
    onEnd('the last delivered revision was compacted')
  } else {
    close(watch)
    watch.request.onCompacted(compactRevision)
  }
}

/** Reconnects the watch to the next member: at once the first time, then with exponential backoff. */
function resume(watch: RunningWatch, endpoint: string, reason: string): void {
  dropStream(watch)
  if (watch.closed) return
  watch.deps.onResume(endpoint, reason)
  const pauseMs =
    watch.emptyStreams === 0 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** watch.emptyStreams, LONGEST_PAUSE_MS)
  watch.turn += 1
  watch.emptyStreams += 1
  watch.retry = setTimeout(() => void connect(watch), pauseMs * (0.5 + Math.random() / 2))
}

function dropStream(watch: RunningWatch): void {
  watch.pulse?.stop()
  watch.stream?.close()
  watch.stream = undefined
  watch.revisions.dropPartial()
}

function close(watch: RunningWatch): void {
  if (watch.closed) return
  watch.closed = true
  clearTimeout(watch.retry)
  clearTimeout(watch.progressTimer)
  dropStream(watch)
  watch.deps.onClosed(watch.handle)
}

/** Requests progress. The answer may belong to an earlier request, so callers repeat until they see their revision. */
function requestProgress(watch: RunningWatch): void {
  watch.progressWanted = true
  if (performance.now() - watch.requestedAt >= REQUEST_INTERVAL_MS) requestUntilAnswered(watch)
}

/** Sends the progress request repeatedly, because etcd silently drops such requests while the watch is catching up. */
function requestUntilAnswered(watch: RunningWatch): void {
  clearTimeout(watch.progressTimer)
  if (!watch.progressWanted || watch.closed) return
  watch.requestedAt = performance.now()
  if (watch.created) watch.stream?.requestProgress()
  watch.progressTimer = setTimeout(() => requestUntilAnswered(watch), REQUEST_AGAIN_MS)
}

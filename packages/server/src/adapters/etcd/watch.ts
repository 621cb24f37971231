// A watch that outlives its streams: it resumes after the last revision it delivered, on the next member, until it is
// closed or the history it needs is gone. Never an event twice, never one skipped (DESIGN 5).

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
  /** A fresh connection to the nth member, counted round and round. */
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
  ask: NodeJS.Timeout | undefined
  closed: boolean
  /** etcd has announced the watch on the present stream. */
  created: boolean
  progressWanted: boolean
  askedAt: number
  turn: number
  /** Streams in a row that brought nothing. */
  barren: number
  /** Those of them that were given up for their silence, and not cut. */
  silent: number
  /** Start right after the last revision, not at it: see `startRevisionOf`. */
  exact: boolean
}

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 2_000
const LONGEST_PATIENCE_MS = 60_000
/** etcd brings watches up to date ten times a second. */
const ASK_AGAIN_MS = 100
/** Many may wait for a bookmark at the same time. */
const ASK_AT_MOST_EVERY_MS = 5
const STALE_TOKEN = /invalid auth token|revision of auth store is old/

/** The callbacks of `request` are called in order and never again after `close`; they must not throw. */
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
    ask: undefined,
    closed: false,
    created: false,
    progressWanted: false,
    askedAt: Number.NEGATIVE_INFINITY,
    turn: 0,
    barren: 0,
    silent: 0,
    exact: false,
  }
  void connect(watch)
  return handle
}

/** Without a start revision the watch could not be resumed; an empty range etcd would refuse for ever. */
function requireWatchable({ key, rangeEnd, startRevision }: WatchRequest): void {
  if (!Number.isSafeInteger(startRevision) || startRevision < 1)
    throw new EngineError('invalid', 'no', `a watch cannot start at revision ${startRevision}`)
  // By bytes, as etcd does: text compares otherwise beyond the plane of most letters.
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
    probe: () => watch.created && stream.askProgress(),
    giveUp() {
      watch.silent += 1
      onEnd('no sign of life')
    },
  })
}

/**
 * The stream starts at the last delivered revision, not after it: etcd answers no progress request before the store
 * has reached the start, so at rest nothing could tell a live stream from a dead one. The surplus is filtered out.
 */
function startRevisionOf({ exact, revisions }: RunningWatch): number {
  return exact ? revisions.delivered() + 1 : Math.max(1, revisions.delivered())
}

/**
 * A member that must read a long history first is silent for longer; giving up each time would never get there. The
 * longer patience ends as soon as the stream has brought something.
 */
function pulseTimesOf(watch: RunningWatch): WatchPulseTimes {
  const { quietMs, patienceMs } = watch.deps.pulse
  return {
    quietMs,
    get patienceMs() {
      return Math.min(patienceMs * 2 ** watch.silent, LONGEST_PATIENCE_MS)
    },
  }
}

function receive(watch: RunningWatch, message: WatchMessage, onEnd: (reason: string) => void): void {
  watch.pulse?.beat()
  if (message.canceled) receiveCancel(watch, message, onEnd)
  else if (message.created) watch.created = true
  else if (message.events.length > 0) receiveEvents(watch, message)
  else receiveProgress(watch, message.revision)
}

function receiveEvents(watch: RunningWatch, message: WatchMessage): void {
  thrive(watch)
  const batch = watch.revisions.accept(message.events, message.fragment)
  if (batch) watch.request.onEvents(batch.events, batch.revision)
}

function thrive(watch: RunningWatch): void {
  watch.barren = 0
  watch.silent = 0
  watch.exact = false
}

/** etcd sends progress only while the watch has been sent all there is, in the same order as the events. */
function receiveProgress(watch: RunningWatch, revision: number): void {
  if (!watch.revisions.advance(revision)) return
  thrive(watch)
  watch.progressWanted = false
  watch.request.onProgress(revision)
}

function receiveCancel(watch: RunningWatch, message: WatchMessage, onEnd: (reason: string) => void): void {
  const { compactRevision } = message
  const surplusIsGone = !watch.exact && compactRevision <= watch.revisions.delivered() + 1
  if (compactRevision === 0) onEnd(message.cancelReason || 'canceled')
  else if (surplusIsGone) {
    watch.exact = true
    onEnd('the last delivered revision was compacted')
  } else {
    close(watch)
    watch.request.onCompacted(compactRevision)
  }
}

/** On the next member; at once the first time, then after growing pauses. */
function resume(watch: RunningWatch, endpoint: string, reason: string): void {
  letGo(watch)
  if (watch.closed) return
  watch.deps.onResume(endpoint, reason)
  const pauseMs = watch.barren === 0 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** watch.barren, LONGEST_PAUSE_MS)
  watch.turn += 1
  watch.barren += 1
  watch.retry = setTimeout(() => void connect(watch), pauseMs * (0.5 + Math.random() / 2))
}

function letGo(watch: RunningWatch): void {
  watch.pulse?.stop()
  watch.stream?.close()
  watch.stream = undefined
  watch.revisions.dropPartial()
}

function close(watch: RunningWatch): void {
  if (watch.closed) return
  watch.closed = true
  clearTimeout(watch.retry)
  clearTimeout(watch.ask)
  letGo(watch)
  watch.deps.onClosed(watch.handle)
}

/** The bookmark that comes may answer an earlier asking; whoever waits for a revision asks again until it is reached. */
function requestProgress(watch: RunningWatch): void {
  watch.progressWanted = true
  if (performance.now() - watch.askedAt >= ASK_AT_MOST_EVERY_MS) askUntilAnswered(watch)
}

/** etcd drops a request for progress while the watch has not been sent all there is, without a word. */
function askUntilAnswered(watch: RunningWatch): void {
  clearTimeout(watch.ask)
  if (!watch.progressWanted || watch.closed) return
  watch.askedAt = performance.now()
  if (watch.created) watch.stream?.askProgress()
  watch.ask = setTimeout(() => askUntilAnswered(watch), ASK_AGAIN_MS)
}

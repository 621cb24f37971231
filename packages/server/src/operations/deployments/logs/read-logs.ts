// GET /deployments/{name}/logs: the output of a deployment's containers, merged over its replicas. Reading is audited,
// because logs may contain the tenant's own data.

import { defined, durationMs, type LogLine, ownerOf } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import type { Clock } from '../../../ports/clock.ts'
import type { OpenNodeStream } from '../../../ports/node-streams.ts'
import { jobs, observations, placements } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { type Caller, done, type Outcome, refused } from '../../caller.ts'
import type { ReadingLog } from '../../events/reading-log.ts'
import { findStored } from '../read/find-deployment.ts'
import { type LogOptions, type LogSource, openLogSource } from './log-source.ts'
import { type LogTarget, logTargets, previousTargets } from './log-targets.ts'
import {
  createLastLines,
  createWakeup,
  mergeKept,
  shownLine,
  shownReplica,
  takeAll,
  type Wakeup,
} from './merge-logs.ts'

export interface LogDeps {
  readonly store: Store
  readonly clock: Clock
  readonly openStream: OpenNodeStream
  readonly readings: Pick<ReadingLog, 'note'>
  /** How many milliseconds a node may be silent while it sends stored log lines. */
  readonly silenceMs?: number
}

export interface LogQuery {
  readonly follow: boolean
  /** How many of the last lines of each replica to return. */
  readonly tail: number
  readonly since?: string
  readonly replica?: number
  /** Whether to return only lines of the canary. */
  readonly canary?: boolean
  /** Whether to return the kept lines of failed containers instead of the current logs. */
  readonly previous: boolean
}

export type ReadLines = (signal: AbortSignal) => AsyncGenerator<LogLine>

/** Log lines of several replicas that arrive within this window are sorted by time. */
const WINDOW_MS = 200
const RETRY_MS = 2_000
const SILENCE_MS = 30_000

/** Returns the log lines as a stream; no node is contacted before the first line is read. */
export async function readLogs(
  deps: LogDeps,
  caller: Caller,
  path: string,
  query: LogQuery,
): Promise<Outcome<ReadLines>> {
  const { store, clock, readings } = deps
  await store.fresh()
  const found = findStored(store, caller.tenant, path)
  if (!found.ok) return found
  const { uid, spec } = found.value
  if (query.previous && query.follow)
    return refused(
      reject('query_parameter_invalid', 'follow', 'true', {
        accepted: 'false with previous=true: a failed container writes no more lines',
      }),
    )
  const find = query.previous ? previousTargets : logTargets
  const owner = ownerOf('deployment', uid)
  const targets = find(store, caller.tenant, owner, query)
  if (query.replica !== undefined && targets.length === 0)
    return refused(
      reject('query_parameter_invalid', 'replica', String(query.replica), {
        accepted: 'the number of a replica that has a container',
      }),
    )
  readings.note(caller, { action: 'deployments:logs', subject: { kind: 'Deployment', name: spec.name } })
  const request: LogRequest = {
    caller,
    targets,
    query: withTime(query, clock),
    current: () => logTargets(store, caller.tenant, owner, query),
    isGone: () => !findStored(store, caller.tenant, uid).ok,
  }
  return done((signal) => linesOf(deps, request, signal))
}

/** The query with `since` as a time. */
export function withTime<Q extends { readonly since?: string }>(query: Q, clock: Clock): Q {
  return query.since === undefined ? query : { ...query, since: timeOf(query.since, clock) }
}

function timeOf(since: string, clock: Clock): string {
  const agoMs = durationMs(since)
  return agoMs === undefined ? since : new Date(clock.now() - agoMs).toISOString()
}

export interface LogRequest {
  readonly caller: Caller
  readonly targets: readonly LogTarget[]
  readonly query: LogQuery
  /** The containers whose logs are followed, whenever one has started. */
  readonly current: () => readonly LogTarget[]
  /** Whether no further container will start. */
  readonly isGone: () => boolean
}

export async function* linesOf(
  deps: LogDeps,
  request: LogRequest,
  signal: AbortSignal,
  progress = newProgress(),
): AsyncGenerator<LogLine> {
  yield* keptLines(deps, request, progress, createWakeup(signal))
  if (request.query.follow) yield* followedLines(deps, request, progress, createWakeup(signal))
}

export const newProgress = (): LogProgress => ({ times: new Map(), gaps: new Map() })

/** The progress of the client's log stream, by assignment id. */
export interface LogProgress {
  /** Time of the last line sent, by assignment id. */
  readonly times: Map<string, string>
  /** Why no further lines of an assignment could be read, by assignment id. */
  readonly gaps: Map<string, string>
}

export async function* keptLines(
  { openStream, silenceMs = SILENCE_MS }: LogDeps,
  { targets, query: { tail, since, previous } }: Pick<LogRequest, 'targets' | 'query'>,
  progress: LogProgress,
  wakeup: Wakeup,
): AsyncGenerator<LogLine> {
  // At least one line of each container is read, so that following the log can start after that line.
  const options: LogOptions = {
    tail: Math.max(1, tail),
    ...(previous ? { previous } : {}),
    ...defined({ since }),
  }
  for (const target of targets) {
    const { refusal: reason, node } = target
    if (reason !== undefined) yield { unavailable: { ...shownReplica(target), node, reason } }
  }
  const readable = targets.filter(({ refusal }) => refusal === undefined)
  const sources = readable.map((target) => openLogSource(openStream, target, options, wakeup.notify))
  const silenceCheck = setInterval(() => {
    for (const source of sources) source.endIfSilent(silenceMs)
  }, silenceMs / 4)
  try {
    // Each node sends at most `tail` lines of a container, and one if `tail` is 0.
    const last = createLastLines(tail * sources.length)
    for await (const taken of mergeKept(sources, wakeup)) {
      progress.times.set(taken.source.target.assignmentId, taken.line.time)
      last.push(taken)
    }
    for (const source of sources) yield* gapOf(source, progress)
    yield* last.lines()
  } finally {
    clearInterval(silenceCheck)
    for (const source of sources) source.close()
  }
}

/** Reports a replica whose log could not be read, once for each reason. */
function* gapOf({ target, error }: LogSource, { gaps }: LogProgress): Generator<LogLine> {
  const { assignmentId, node } = target
  if (error === undefined || gaps.get(assignmentId) === error) return
  gaps.set(assignmentId, error)
  yield { unavailable: { ...shownReplica(target), node, reason: error } }
}

interface FollowState {
  readonly sources: Map<string, LogSource>
  /** The start of the container whose log is or was followed, by assignment id. */
  readonly runs: Map<string, string>
  /** Time at which a broken log stream is retried, by assignment id. */
  readonly retryAt: Map<string, number>
}

async function* followedLines(
  deps: LogDeps,
  request: LogRequest,
  progress: LogProgress,
  wakeup: Wakeup,
): AsyncGenerator<LogLine> {
  const followed: FollowState = { sources: new Map(), runs: new Map(), retryAt: new Map() }
  const unsubscribe = deps.store.subscribe((changes) => {
    const { tenant } = request.caller
    const folders = [placements.folder, observations.folder, jobs.folder]
    if (changes.some(({ key }) => key.tenant === tenant && folders.includes(key.folder))) wakeup.notify()
  })
  try {
    while (!wakeup.signal.aborted) {
      followNew(deps, request, followed, progress, wakeup)
      if (followed.sources.size === 0 && request.isGone()) return
      await wakeup.wait()
      if (followed.sources.size > 1) await gather([...followed.sources.values()], wakeup)
      for (const { source, line } of takeAll(followed.sources.values())) {
        const { assignmentId } = source.target
        if ('stream' in line.what && line.time <= (progress.times.get(assignmentId) ?? '')) continue
        if (line.time !== '') progress.times.set(assignmentId, line.time)
        progress.gaps.delete(assignmentId)
        yield shownLine(source, line)
      }
      yield* dropEnded(followed, progress, wakeup)
    }
  } finally {
    unsubscribe()
    for (const source of followed.sources.values()) source.close()
  }
}

/** Waits for the sorting window to end, or until a log source has a full buffer and must be read to continue. */
async function gather(sources: readonly LogSource[], wakeup: Wakeup): Promise<void> {
  let isOver = false
  const timer = setTimeout(() => {
    isOver = true
    wakeup.notify()
  }, WINDOW_MS)
  while (!isOver && !wakeup.signal.aborted && !sources.some(({ full }) => full)) await wakeup.wait()
  clearTimeout(timer)
}

/** Starts to follow new replicas and restarted containers, each after the last line that was already sent. */
function followNew(
  { openStream }: LogDeps,
  { current, query }: LogRequest,
  followed: FollowState,
  progress: LogProgress,
  wakeup: Wakeup,
): void {
  for (const target of current()) {
    const { assignmentId, run } = target
    if (run === null || followed.sources.has(assignmentId) || followed.runs.get(assignmentId) === run)
      continue
    if (performance.now() < (followed.retryAt.get(assignmentId) ?? 0)) continue
    followed.runs.set(assignmentId, run)
    const since = progress.times.get(assignmentId) ?? query.since
    const options = { follow: true, ...defined({ since }) }
    followed.sources.set(assignmentId, openLogSource(openStream, target, options, wakeup.notify))
  }
}

/** Removes ended log streams. A broken stream is retried later and continues after its last line. */
function* dropEnded(
  { sources, runs, retryAt }: FollowState,
  progress: LogProgress,
  wakeup: Wakeup,
): Generator<LogLine> {
  for (const [id, source] of sources) {
    if (!source.ended || source.lines.length > 0) continue
    sources.delete(id)
    if (source.error === undefined) continue
    runs.delete(id)
    retryAt.set(id, performance.now() + RETRY_MS)
    setTimeout(wakeup.notify, RETRY_MS).unref()
    yield* gapOf(source, progress)
  }
}

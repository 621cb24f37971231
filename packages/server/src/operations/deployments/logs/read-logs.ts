// GET /deployments/{name}/logs: what the containers of a deployment wrote, merged over its replicas. Reading is audited: it
// shows what the tenant's own programs say. DECISIONS 1 and 8.

import { type DeploymentUid, durationMs, type LogLine } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import type { Clock } from '../../../ports/clock.ts'
import type { OpenNodeStream } from '../../../ports/node-streams.ts'
import { observations, placements } from '../../../store/records.ts'
import type { Store } from '../../../store/store.ts'
import { type Caller, done, type Outcome, refused } from '../../caller.ts'
import { recordAudit } from '../../record-write.ts'
import { requireLiveCaller } from '../../require-live-caller.ts'
import { findStored } from '../read/find-deployment.ts'
import { type LogOptions, type LogSource, openLogSource } from './log-source.ts'
import { type LogTarget, logTargets } from './log-targets.ts'
import { createLastLines, createNews, mergeKept, type News, shownLine, takeAll } from './merge-logs.ts'

export interface LogDeps {
  readonly store: Store
  readonly clock: Clock
  readonly openStream: OpenNodeStream
  /** So long may a node that is asked for what it has kept say nothing. */
  readonly silenceMs?: number
}

export interface LogQuery {
  readonly follow: boolean
  /** Of the merged whole. */
  readonly tail: number
  readonly since?: string
  readonly replica?: number
}

export type ReadLines = (signal: AbortSignal) => AsyncGenerator<LogLine>

/** Lines of several replicas that come within so long of each other are put in order. */
const WINDOW_MS = 200
const RETRY_MS = 2_000
const SILENCE_MS = 30_000

/** Nothing is asked of any node before the lines are read. */
export async function readLogs(
  deps: LogDeps,
  caller: Caller,
  path: string,
  query: LogQuery,
): Promise<Outcome<ReadLines>> {
  const { store, clock } = deps
  await store.fresh()
  const found = findStored(store, caller.tenant, path)
  if (!found.ok) return found
  const { uid, spec } = found.value
  const targets = logTargets(store, caller.tenant, uid, query.replica)
  if (query.replica !== undefined && targets.length === 0)
    return refused(
      reject('query_parameter_invalid', 'replica', String(query.replica), {
        accepted: 'the number of a replica that has a container',
      }),
    )
  const gone = await store.transact((transaction) => {
    const refusal = requireLiveCaller(transaction, caller)
    if (refusal !== undefined) return { kind: 'abort', result: refusal }
    recordAudit(transaction, clock, caller, {
      action: 'deployments:logs',
      subject: { kind: 'Deployment', name: spec.name },
    })
    return { kind: 'commit', result: undefined }
  })
  if (gone !== undefined) return refused(gone)
  const since = query.since === undefined ? undefined : timeOf(query.since, clock)
  const asked = { ...query, ...(since === undefined ? {} : { since }) }
  return done((signal) => linesOf(deps, { caller, uid, targets, query: asked }, signal))
}

function timeOf(since: string, clock: Clock): string {
  const agoMs = durationMs(since)
  return agoMs === undefined ? since : new Date(clock.now() - agoMs).toISOString()
}

interface Reading {
  readonly caller: Caller
  readonly uid: DeploymentUid
  readonly targets: readonly LogTarget[]
  readonly query: LogQuery
}

async function* linesOf(deps: LogDeps, reading: Reading, signal: AbortSignal): AsyncGenerator<LogLine> {
  const told: Told = { times: new Map(), gaps: new Map() }
  yield* keptLines(deps, reading, told, createNews(signal))
  if (reading.query.follow) yield* followedLines(deps, reading, told, createNews(signal))
}

/** By assignment. */
interface Told {
  /** Of the last line. */
  readonly times: Map<string, string>
  /** Why it cannot be read, since its last line. */
  readonly gaps: Map<string, string>
}

async function* keptLines(
  { openStream, silenceMs = SILENCE_MS }: LogDeps,
  { targets, query: { tail, since } }: Reading,
  told: Told,
  news: News,
): AsyncGenerator<LogLine> {
  // Of each at least one, so that it is known where following begins.
  const wish: LogOptions = { tail: Math.max(1, tail), ...(since === undefined ? {} : { since }) }
  const sources = targets.map((target) => openLogSource(openStream, target, wish, news.tell))
  const patience = setInterval(() => {
    for (const source of sources) source.endIfSilent(silenceMs)
  }, silenceMs / 4)
  try {
    const last = createLastLines(tail)
    for await (const taken of mergeKept(sources, news)) {
      told.times.set(taken.source.target.assignmentId, taken.line.time)
      last.push(taken)
    }
    for (const source of sources) yield* gapOf(source, told)
    yield* last.lines()
  } finally {
    clearInterval(patience)
    for (const source of sources) source.close()
  }
}

/** Never silence: a replica that could not be read is named, once for each reason. */
function* gapOf({ target, error }: LogSource, { gaps }: Told): Generator<LogLine> {
  const { assignmentId, replica, node } = target
  if (error === undefined || gaps.get(assignmentId) === error) return
  gaps.set(assignmentId, error)
  yield { unavailable: { replica, node, reason: error } }
}

interface Followed {
  readonly sources: Map<string, LogSource>
  /** Those that were followed or are. */
  readonly runs: Map<string, string>
  /** When one that broke off is asked again. */
  readonly retryAt: Map<string, number>
}

async function* followedLines(
  deps: LogDeps,
  reading: Reading,
  told: Told,
  news: News,
): AsyncGenerator<LogLine> {
  const followed: Followed = { sources: new Map(), runs: new Map(), retryAt: new Map() }
  const unsubscribe = deps.store.subscribe((changes) => {
    const { tenant } = reading.caller
    const folders = [placements.folder, observations.folder]
    if (changes.some(({ key }) => key.tenant === tenant && folders.includes(key.folder))) news.tell()
  })
  try {
    while (!news.signal.aborted) {
      followNew(deps, reading, followed, told, news)
      if (followed.sources.size === 0 && isGone(deps, reading)) return
      await news.wait()
      if (followed.sources.size > 1) await gather([...followed.sources.values()], news)
      for (const { source, line } of takeAll(followed.sources.values())) {
        const { assignmentId } = source.target
        if ('stream' in line.what && line.time <= (told.times.get(assignmentId) ?? '')) continue
        if (line.time !== '') told.times.set(assignmentId, line.time)
        told.gaps.delete(assignmentId)
        yield shownLine(source, line)
      }
      yield* dropEnded(followed, told, news)
    }
  } finally {
    unsubscribe()
    for (const source of followed.sources.values()) source.close()
  }
}

/** Until lines of all may be put in order, or one can send no more: its lines would wait for nothing but the time. */
async function gather(sources: readonly LogSource[], news: News): Promise<void> {
  let over = false
  const timer = setTimeout(() => {
    over = true
    news.tell()
  }, WINDOW_MS)
  while (!over && !news.signal.aborted && !sources.some(({ full }) => full)) await news.wait()
  clearTimeout(timer)
}

/** Also those of a rollout, and of a container that was started anew: each run from where it was left. */
function followNew(
  { store, openStream }: LogDeps,
  { caller, uid, query }: Reading,
  followed: Followed,
  told: Told,
  news: News,
): void {
  for (const target of logTargets(store, caller.tenant, uid, query.replica)) {
    const { assignmentId, run } = target
    if (run === null || followed.sources.has(assignmentId) || followed.runs.get(assignmentId) === run)
      continue
    if (performance.now() < (followed.retryAt.get(assignmentId) ?? 0)) continue
    followed.runs.set(assignmentId, run)
    const since = told.times.get(assignmentId) ?? query.since
    const wish = { follow: true, ...(since === undefined ? {} : { since }) }
    followed.sources.set(assignmentId, openLogSource(openStream, target, wish, news.tell))
  }
}

/** One that broke off is tried again, and goes on behind its last line. */
function* dropEnded({ sources, runs, retryAt }: Followed, told: Told, news: News): Generator<LogLine> {
  for (const [id, source] of sources) {
    if (!source.ended || source.lines.length > 0) continue
    sources.delete(id)
    if (source.error === undefined) continue
    runs.delete(id)
    retryAt.set(id, performance.now() + RETRY_MS)
    setTimeout(news.tell, RETRY_MS).unref()
    yield* gapOf(source, told)
  }
}

const isGone = ({ store }: LogDeps, { caller, uid }: Reading): boolean =>
  !findStored(store, caller.tenant, uid).ok

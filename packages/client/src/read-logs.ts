// Reads container logs as JSON lines. Skipped lines and unreachable replicas appear as entries of their own. A followed
// stream that breaks resumes from the time of its last line (docs/design/api.md#streams).

import { decodeOpen, type LogLine, logEntryShape, logGapShape, logSkipShape } from '@holdfast/contract'
import type { Connection } from './connection.ts'
import { openStream, type StreamEnd, type TextStream } from './open-stream.ts'
import type { Failure } from './result.ts'
import { backOff, isFinal, MAX_FAILURES } from './resume.ts'

export interface LogQuery {
  readonly follow?: boolean
  readonly tail?: number | undefined
  readonly since?: string | undefined
  readonly replica?: number | undefined
  /** Whether to read only lines of the canary. */
  readonly canary?: boolean
  /** Whether to read the kept lines of failed containers instead of the current logs. */
  readonly previous?: boolean
}

export type LogStreamItem =
  | { readonly kind: 'line'; readonly line: LogLine }
  | { readonly kind: 'failed'; readonly failure: Failure }

/** Number of lines requested when a stream resumes: the server's maximum, so that no line is missed. */
const MAX_LINES = 10_000
const FORM = { type: 'application/x-ndjson' } as const
/**
 * A stream that lasted at least this long resets the failure count. Fetch ends a stream after five minutes without
 * data, so the log stream of a quiet deployment breaks regularly without an error.
 */
const STABLE_MS = 60_000

export interface LogReadOptions {
  readonly signal?: AbortSignal | undefined
  /** The lines that an earlier read of the same log has yielded. */
  readonly filter?: LineFilter
  /** Whether the end of a followed stream is the end of the log; absent: the stream is opened again. */
  readonly isOver?: () => boolean
}

export async function* readLogs(
  connection: Connection,
  path: string,
  query: LogQuery,
  { signal = connection.signal, filter = createLineFilter(), isOver = () => false }: LogReadOptions = {},
): AsyncGenerator<LogStreamItem, void, void> {
  let failures = 0
  let last: StreamEnd | undefined
  while (signal?.aborted !== true) {
    const resumed =
      filter.lastTime === undefined ? query : { ...query, since: filter.lastTime, tail: MAX_LINES }
    const opened = await openStream(connection, { ...callFor(path, resumed), signal }, FORM)
    if (!opened.ok) {
      if (last?.kind === 'ended' && isGone(opened.failure)) return
      if (last === undefined || isFinal(opened.failure, failures)) return yield* reportFailure(opened.failure)
    } else {
      const openedAt = connection.runtime.now()
      last = yield* readNewLines(opened.value, filter, () => {
        failures = 0
      })
      const isLast = query.follow !== true || isOver()
      if (last.kind === 'interrupted' || (last.kind === 'ended' && isLast)) return
      if (connection.runtime.now() - openedAt >= STABLE_MS) failures = 0
      if (query.follow !== true || failures >= MAX_FAILURES)
        return yield* reportFailure(brokenStream(connection, last))
    }
    await backOff(failures, connection, signal)
    failures += 1
  }
}

/** Whether the deployment was deleted, which is a normal end of a followed stream. */
const isGone = (failure: Failure): boolean => failure.kind === 'rejected' && failure.status === 404

const brokenStream = ({ baseUrl }: Connection, end: StreamEnd): Failure => ({
  kind: 'unreachable',
  reason: `${baseUrl}: ${end.kind === 'cut' ? end.reason : 'the server ended the stream'}`,
})

function callFor(path: string, { follow, tail, since, replica, canary, previous }: LogQuery) {
  return {
    method: 'GET',
    path,
    query: {
      ...(follow === true ? { follow } : {}),
      ...(canary === true ? { canary } : {}),
      ...(previous === true ? { previous } : {}),
      tail,
      since,
      replica,
    },
    repeat: 'safe',
  } as const
}

function* reportFailure(failure: Failure): Generator<LogStreamItem, void, void> {
  if (failure.kind !== 'interrupted') yield { kind: 'failed', failure }
}

async function* readNewLines(
  stream: TextStream,
  filter: LineFilter,
  onLine: () => void,
): AsyncGenerator<LogStreamItem, StreamEnd, void> {
  let incomplete = ''
  for (;;) {
    const { done, value } = await stream.next()
    if (done === true) return value
    const lines = `${incomplete}${value}`.split('\n')
    incomplete = lines.pop() ?? ''
    for (const text of lines) {
      if (text === '' || !filter.isNew(text)) continue
      const line = readLine(text)
      filter.add(text, line)
      // Every new stream begins with entries for unreachable replicas, so such an entry does not reset the failure count.
      if ('time' in line) onLine()
      yield { kind: 'line', line }
    }
  }
}

function readLine(text: string): LogLine {
  const value: object = Object(JSON.parse(text))
  if ('skipped' in value) return decodeOpen(logSkipShape, value)
  return 'unavailable' in value ? decodeOpen(logGapShape, value) : decodeOpen(logEntryShape, value)
}

/** Drops repeated lines: a stream that resumes from a time repeats the lines of exactly that time. */
export interface LineFilter {
  readonly lastTime: string | undefined
  isNew(text: string): boolean
  add(text: string, line: LogLine): void
}

export function createLineFilter(): LineFilter {
  let lastTime: string | undefined
  let texts = new Set<string>()
  return {
    get lastTime() {
      return lastTime
    },
    isNew: (text) => !texts.has(text),
    add(text, line) {
      if (!('time' in line)) return
      if (line.time !== lastTime) texts = new Set()
      lastTime = line.time
      texts.add(text)
    },
  }
}

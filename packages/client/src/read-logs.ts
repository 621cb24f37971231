// The lines of a deployment's containers as they come, one JSON value a line. What was skipped and who could not be read is
// told among them. A stream that is followed is taken up again when it breaks or its server stops, from the time of the last
// line. DECISIONS 1.

import { decodeKnown, type LogLine, logEntryShape, logGapShape, logSkipShape } from '@holdfast/contract'
import type { Connection } from './connection.ts'
import { openStream, type StreamEnd, type TextStream } from './open-stream.ts'
import { segment } from './request.ts'
import type { Failure } from './result.ts'
import { backOff, isFinal, MAX_FAILURES } from './resume.ts'

export interface LogQuery {
  readonly follow?: boolean
  readonly tail?: number | undefined
  readonly since?: string | undefined
  readonly replica?: number | undefined
}

export type LogStreamItem =
  | { readonly kind: 'line'; readonly line: LogLine }
  | { readonly kind: 'failed'; readonly failure: Failure }

/** As much as the server gives: after a cut nothing of it is to be missing. */
const MAX_LINES = 10_000
const FORM = { type: 'application/x-ndjson' } as const
/** A stream that held for so long did not break at once: fetch itself gives up what is silent for five minutes. */
const STABLE_MS = 60_000

export async function* readLogs(
  connection: Connection,
  name: string,
  query: LogQuery,
  signal = connection.signal,
): AsyncGenerator<LogStreamItem, void, void> {
  const seen = createSeen()
  let failures = 0
  let last: StreamEnd | undefined
  while (signal?.aborted !== true) {
    const wanted = seen.lastTime === undefined ? query : { ...query, since: seen.lastTime, tail: MAX_LINES }
    const opened = await openStream(connection, { ...callFor(name, wanted), signal }, FORM)
    if (!opened.ok) {
      if (last?.kind === 'ended' && isGone(opened.failure)) return
      if (last === undefined || isFinal(opened.failure, failures)) return yield* printFailure(opened.failure)
    } else {
      const openedAt = connection.runtime.now()
      last = yield* readNewLines(opened.value, seen, () => {
        failures = 0
      })
      if (last.kind === 'interrupted' || (last.kind === 'ended' && query.follow !== true)) return
      if (connection.runtime.now() - openedAt >= STABLE_MS) failures = 0
      if (query.follow !== true || failures >= MAX_FAILURES)
        return yield* printFailure(brokenStream(connection, last))
    }
    await backOff(failures, connection, signal)
    failures += 1
  }
}

/** What is followed ends in order when its server stops, its token counts no more, or there is nothing left to follow. */
const isGone = (failure: Failure): boolean => failure.kind === 'rejected' && failure.status === 404

const brokenStream = ({ baseUrl }: Connection, end: StreamEnd): Failure => ({
  kind: 'unreachable',
  reason: `${baseUrl}: ${end.kind === 'cut' ? end.reason : 'the server ended the stream'}`,
})

function callFor(name: string, { follow, tail, since, replica }: LogQuery) {
  return {
    method: 'GET',
    path: `/deployments/${segment(name)}/logs`,
    query: { ...(follow === true ? { follow } : {}), tail, since, replica },
    repeat: 'safe',
  } as const
}

function* printFailure(failure: Failure): Generator<LogStreamItem, void, void> {
  if (failure.kind !== 'interrupted') yield { kind: 'failed', failure }
}

async function* readNewLines(
  stream: TextStream,
  seen: Seen,
  onLine: () => void,
): AsyncGenerator<LogStreamItem, StreamEnd, void> {
  let rest = ''
  for (;;) {
    const { done, value } = await stream.next()
    if (done === true) return value
    const lines = `${rest}${value}`.split('\n')
    rest = lines.pop() ?? ''
    for (const text of lines) {
      if (text === '' || !seen.isNew(text)) continue
      const line = readLine(text)
      seen.note(text, line)
      // Who cannot be read is said at each beginning.
      if ('time' in line) onLine()
      yield { kind: 'line', line }
    }
  }
}

function readLine(text: string): LogLine {
  const value: object = Object(JSON.parse(text))
  if ('skipped' in value) return decodeKnown(logSkipShape, value)
  return 'unavailable' in value ? decodeKnown(logGapShape, value) : decodeKnown(logEntryShape, value)
}

/** The lines of the last moment: a stream that is taken up from a time gives those of that time again. */
interface Seen {
  readonly lastTime: string | undefined
  isNew(text: string): boolean
  note(text: string, line: LogLine): void
}

function createSeen(): Seen {
  let lastTime: string | undefined
  let texts = new Set<string>()
  return {
    get lastTime() {
      return lastTime
    },
    isNew: (text) => !texts.has(text),
    note(text, line) {
      if (!('time' in line)) return
      if (line.time !== lastTime) texts = new Set()
      lastTime = line.time
      texts.add(text)
    },
  }
}

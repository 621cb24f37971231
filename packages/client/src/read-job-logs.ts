// Reads the log of a job. A followed log ends with the job: the caller reports the end, the followed stream delivers the
// rest of every attempt, and the lines of the last one that it did not deliver are then read once more.

import type { Connection } from './connection.ts'
import { createLineFilter, type LogQuery, type LogStreamItem, readLogs } from './read-logs.ts'

export type JobLogQuery = Pick<LogQuery, 'follow' | 'tail' | 'since'>

export interface JobLogOptions {
  readonly signal?: AbortSignal | undefined
  /** Aborted when the job has ended. A followed log without it ends only with `signal`. */
  readonly finished?: AbortSignal
}

/**
 * A followed log that breaks for good yields the failure and continues at the end of the job, so that no line of it is
 * missing if the platform is back by then.
 */
export async function* readJobLogs(
  connection: Connection,
  path: string,
  query: JobLogQuery,
  { signal = connection.signal, finished }: JobLogOptions = {},
): AsyncGenerator<LogStreamItem, void, void> {
  if (query.follow !== true || finished === undefined)
    return yield* readLogs(connection, path, query, { signal })
  const filter = createLineFilter()
  if (!finished.aborted) {
    const left = signal === undefined ? [] : [signal]
    const { overdue, release } = restOf(connection, finished)
    const isOver = (): boolean => finished.aborted
    try {
      yield* readLogs(connection, path, query, {
        signal: AbortSignal.any([overdue, ...left]),
        filter,
        isOver,
      })
    } finally {
      release()
    }
    await untilAborted(AbortSignal.any([finished, ...left]))
  }
  if (signal?.aborted === true) return
  yield* readLogs(connection, path, { ...query, follow: false }, { signal, filter })
}

/** How long a followed stream may take to deliver the rest of the log after the end of the job. */
const REST_MS = 10_000

/** `overdue` aborts some time after the end of the job, unless it is released before. */
function restOf({ runtime }: Connection, finished: AbortSignal) {
  const [overdue, released] = [new AbortController(), new AbortController()]
  // The wait is rejected when it is released.
  const wait = () =>
    runtime.wait(REST_MS, released.signal).then(
      () => overdue.abort(),
      () => {},
    )
  finished.addEventListener('abort', () => void wait(), { once: true, signal: released.signal })
  return { overdue: overdue.signal, release: () => released.abort() }
}

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

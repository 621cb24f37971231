// Reads the log of a job. A followed log ends with the job: the caller reports the end, and the lines that the followed
// stream did not deliver are then read once more.

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
    const ended = AbortSignal.any(signal === undefined ? [finished] : [finished, signal])
    yield* readLogs(connection, path, query, { signal: ended, filter })
    await untilAborted(ended)
  }
  if (signal?.aborted === true) return
  yield* readLogs(connection, path, { ...query, follow: false }, { signal, filter })
}

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

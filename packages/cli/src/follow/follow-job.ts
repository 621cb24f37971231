// Waits until a job has ended: shows on stderr why it waits, then prints the log of its container as it is written.

import type { Client, Failure } from '@holdfast/client'
import { isFinalPhase, type JobRecord, type LogEntry } from '@holdfast/contract'
import { EXIT, type ExitCode } from '../exit-codes.ts'
import { cancelActive } from '../jobs/cancel-active.ts'
import { printError, printFailure } from '../print/failure.ts'
import { progressText } from '../print/job.ts'
import { createLive } from '../print/live.ts'
import { plain } from '../print/plain.ts'
import { pause } from '../terminal/pause.ts'
import { report, type Terminal } from '../terminal/terminal.ts'
import { type JobLogPrinter, printJobLog } from './print-job-log.ts'
import { isUnavailable } from './unavailable.ts'

const POLL_MS = 500
/** How long the platform may be silent before the wait ends. The job continues without the command. */
const SILENT_MS = 5 * 60_000
/** How long the end of a cancelled job is awaited. A node that is unreachable confirms it much later. */
const CANCEL_MS = 60_000
/** How long the rest of the log may take after the end of the job. */
const LOG_MS = 30_000

export interface FollowJobOptions {
  /** Longest time to wait; absent: until the job ends. */
  readonly longestMs?: number | undefined
  /** Whether Ctrl-C cancels the job; otherwise it ends only the wait. */
  readonly cancels: boolean
  /** Number of last lines to begin with; absent: the whole log. */
  readonly tail?: number | undefined
  readonly since?: string | undefined
  printLine(line: LogEntry): void
}

/** The job after its end, or the exit code after the problem was printed. */
export async function followJob(
  terminal: Terminal,
  client: Client,
  { id }: Pick<JobRecord, 'id'>,
  options: FollowJobOptions,
): Promise<JobRecord | ExitCode> {
  const leave = new AbortController()
  const progress = createProgress(terminal)
  const log = openLog(terminal, client, id, { ...options, onItem: progress.beginLog }, leave.signal)
  try {
    return await pollUntilEnd(terminal, client, id, options, { progress, log }, leave.signal)
  } finally {
    leave.abort()
  }
}

async function pollUntilEnd(
  terminal: Terminal,
  client: Client,
  id: string,
  { longestMs = Number.POSITIVE_INFINITY, cancels }: FollowJobOptions,
  { progress, log }: { readonly progress: Progress; readonly log: JobLog },
  left: AbortSignal,
): Promise<JobRecord | ExitCode> {
  let end = terminal.now() + longestMs
  let heardMs = terminal.now()
  let isCancelled = false
  for (;;) {
    // After Ctrl-C the client sends nothing more, unless a call has a signal of its own.
    const read = await client.jobs.read(id, { signal: left })
    if (read.ok) {
      heardMs = terminal.now()
      const isEnded = isFinalPhase(read.value.status.phase)
      if (hasStarted(read.value) || isEnded) progress.stop()
      // The log is opened before the container starts, so that it has the output of an attempt that is over at once.
      if (!isEnded || hasStarted(read.value)) log.open(isEnded)
      if (isEnded) {
        await log.close()
        return read.value
      }
      progress.job(read.value)
    } else if (!isUnavailable(read.failure) || terminal.now() - heardMs >= SILENT_MS)
      return printLeft(terminal, id, read.failure)
    else progress.show('the platform does not respond; the job continues, still waiting')
    if (terminal.now() >= end) return printTimeout(terminal, id, isCancelled)
    if (terminal.interrupted.aborted && !isCancelled) {
      if (!cancels) return EXIT.interrupted
      isCancelled = true
      end = terminal.now() + CANCEL_MS
      await cancel(terminal, client, id, left)
    }
    await pause(POLL_MS, isCancelled ? left : terminal.interrupted)
  }
}

/** A container that ends at once may never be seen running; its exit code then shows that it started and has a log. */
export const hasStarted = ({ status: { startedAt, exitCode } }: Pick<JobRecord, 'status'>): boolean =>
  startedAt !== null || exitCode !== null

async function cancel(terminal: Terminal, client: Client, id: string, signal: AbortSignal): Promise<void> {
  report(terminal, `cancelling job/${id}; press Ctrl-C again to leave without waiting for its end`)
  const cancelled = await cancelActive(client, id, signal)
  if (cancelled.ok) return
  printFailure(terminal, cancelled.failure)
  report(terminal, `the job may still run; holdfast job cancel ${id} cancels it`)
}

function printLeft(terminal: Terminal, id: string, failure: Failure): ExitCode {
  const exitCode = printFailure(terminal, failure)
  report(terminal, `the job may still run; holdfast job logs ${id} -f follows it`)
  return exitCode
}

function printTimeout(terminal: Terminal, id: string, isCancelled: boolean): ExitCode {
  if (isCancelled) {
    printError(terminal, `the end of job/${id} is not confirmed; holdfast job describe ${id} shows why`)
    return EXIT.interrupted
  }
  printError(terminal, `job/${id} has not ended in time and continues; holdfast job logs ${id} -f follows it`)
  return EXIT.notReady
}

interface JobLog {
  /** Begins to print the log, if it did not before. */
  open(isEnded: boolean): void
  /** Prints the rest of the log of a job that has ended. */
  close(): Promise<void>
}

function openLog(
  terminal: Terminal,
  client: Client,
  id: string,
  { tail = ALL_LINES, since, printLine, onItem }: FollowJobOptions & { readonly onItem: () => void },
  left: AbortSignal,
): JobLog {
  const finished = new AbortController()
  let printed: Promise<ExitCode> | undefined
  return {
    open(isEnded) {
      if (isEnded) finished.abort()
      const printer: JobLogPrinter = { terminal, printLine }
      const items = () =>
        client.jobs.logs(id, { follow: true, tail, since }, { signal: left, finished: finished.signal })
      printed ??= printJobLog(printer, announced(items(), onItem))
    },
    async close() {
      finished.abort()
      await Promise.race([printed, pause(LOG_MS, left)])
    },
  }
}

/** The items, each after a call of `onItem`. */
async function* announced<T>(items: AsyncIterable<T>, onItem: () => void): AsyncGenerator<T, void, void> {
  for await (const item of items) {
    onItem()
    yield item
  }
}

/** The most lines that the platform returns at once. */
const ALL_LINES = 10_000

interface Progress {
  /** Shows a line of progress. While the log is printed, each line is printed once. */
  show(line: string): void
  /** Shows the state of a job. While the log is printed, only a change is printed: a failed attempt, or a lost node. */
  job(job: JobRecord): void
  /** Removes the progress of a terminal, before the log begins. */
  stop(): void
  /** Called before each line of the log, which shows that the container runs. */
  beginLog(): void
}

function createProgress(terminal: Terminal): Progress {
  const live = createLive(terminal)
  let isStopped = false
  let isLogged = false
  let last: string | undefined
  const stop = (): void => {
    if (!isStopped) live.show([])
    isStopped = true
  }
  const show = (line: string, state = line): void => {
    if (!isStopped) live.show([plain(line)])
    else if (last !== undefined && last !== state) report(terminal, plain(line))
    last = state
  }
  return {
    show,
    job(job) {
      const { phase, reason, attempts } = job.status
      const state = `${phase} ${reason} ${attempts}`
      if (isLogged && phase === 'running' && reason === '') last = state
      else show(progressText(job), state)
    },
    stop,
    beginLog() {
      isLogged = true
      stop()
    },
  }
}

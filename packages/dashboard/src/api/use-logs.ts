// Follows the log of a deployment or job while a person sees the page. A hidden tab closes its stream, because browsers open at most
// six connections to a server, and resumes at the last line.

import type { Client, LogQuery } from '@holdfast/client'
import type { LogLine } from '@holdfast/contract'
import { useCallback, useEffect, useState } from 'react'
import { CallError } from './failure.ts'
import { appendLines, EMPTY_LOG, type LogBuffer, lastTimeOf } from './log-buffer.ts'
import { useSession } from './session.tsx'

export interface LogFilter {
  readonly replica?: number | undefined
  /** Reads the kept lines of failed containers instead. */
  readonly previous?: boolean | undefined
}

export interface Logs {
  readonly buffer: LogBuffer
  readonly error: CallError | undefined
  /** True when the stream has ended, so that no further line will arrive. */
  readonly ended: boolean
}

const FIRST_LINES = 500
/** The most lines that the server sends at once. */
const RESUMED_LINES = 10_000
/** Lines are shown together, at most ten times a second. */
const SHOW_MS = 100
const NOTHING: Logs = { buffer: EMPTY_LOG, error: undefined, ended: false }

/** Opens the log; the hook adds where it resumes. */
export type OpenLog = (
  resume: Pick<LogQuery, 'since' | 'tail'>,
  signal: AbortSignal,
) => ReturnType<Client['logs']>

export function useLogs(name: string, { replica, previous = false }: LogFilter): Logs {
  const { client } = useSession()
  const open = useCallback<OpenLog>(
    (resume, signal) => client.logs(name, { follow: !previous, previous, replica, ...resume }, signal),
    [client, name, replica, previous],
  )
  return useLogStream(open)
}

/** Reads the log again from its start whenever `open` is another function. */
export function useLogStream(open: OpenLog): Logs {
  const [logs, setLogs] = useState<Logs>(NOTHING)
  useEffect(() => {
    let buffer = EMPTY_LOG
    let stream = new AbortController()
    setLogs(NOTHING)
    const follow = async (signal: AbortSignal): Promise<void> => {
      const since = lastTimeOf(buffer)
      const resume = since === undefined ? { tail: FIRST_LINES } : { since, tail: RESUMED_LINES }
      const pending: LogLine[] = []
      const show = (rest: Partial<Logs> = {}): void => {
        buffer = appendLines(buffer, pending.splice(0))
        setLogs((shown) =>
          shown.buffer === buffer && Object.keys(rest).length === 0 ? shown : { ...shown, ...rest, buffer },
        )
      }
      const timer = setInterval(show, SHOW_MS)
      signal.addEventListener('abort', () => clearInterval(timer))
      for await (const item of open(resume, signal)) {
        if (item.kind === 'line') pending.push(item.line)
        else show({ error: new CallError(item.failure) })
      }
      clearInterval(timer)
      if (!signal.aborted) show({ ended: true })
    }
    const start = (): void => {
      stream = new AbortController()
      if (!document.hidden) void follow(stream.signal)
    }
    const restart = (): void => {
      stream.abort()
      start()
    }
    start()
    document.addEventListener('visibilitychange', restart)
    return () => {
      document.removeEventListener('visibilitychange', restart)
      stream.abort()
    }
  }, [open])
  return logs
}

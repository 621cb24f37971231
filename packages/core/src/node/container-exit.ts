// Describes how a container's run ended: from the engine's exit code, the signal and the memory limit of an OOM kill; from
// the kernel's log, whose process was OOM-killed; from the runtime's own last line, why the program could not be executed.

import { defined, type LastExit } from '@holdfast/contract'

/** The end of a run as the engine reports it. */
export interface SeenExit {
  readonly code: number
  readonly oomKilled: boolean
  readonly at: string
}

/** A process that a signal ended has the exit code 128 plus the number of the signal. */
const SIGNAL_BASE = 128
/** Signals of Linux by number, from 1. */
const SIGNALS = [
  'SIGHUP',
  'SIGINT',
  'SIGQUIT',
  'SIGILL',
  'SIGTRAP',
  'SIGABRT',
  'SIGBUS',
  'SIGFPE',
  'SIGKILL',
  'SIGUSR1',
  'SIGSEGV',
  'SIGUSR2',
  'SIGPIPE',
  'SIGALRM',
  'SIGTERM',
  'SIGSTKFLT',
  'SIGCHLD',
  'SIGCONT',
  'SIGSTOP',
  'SIGTSTP',
  'SIGTTIN',
  'SIGTTOU',
  'SIGURG',
  'SIGXCPU',
  'SIGXFSZ',
  'SIGVTALRM',
  'SIGPROF',
  'SIGWINCH',
  'SIGIO',
  'SIGPWR',
  'SIGSYS',
] as const

/** `limitBytes`: the container's memory limit; undefined if it has none. */
export function describeExit({ code, oomKilled, at }: SeenExit, limitBytes: number | undefined): LastExit {
  const oom = oomKilled ? { oomKilled, ...defined({ oomLimitBytes: limitBytes || undefined }) } : {}
  return { code, ...defined({ signal: SIGNALS[code - SIGNAL_BASE - 1] }), ...oom, at }
}

/** A line of the kernel about an OOM kill names the cgroup of the victim, whose path ends with the container's id. */
const OOM_VICTIM = /(?:\btask_memcg=|\bTask in )[^\s,]*?([0-9a-f]{64})(?![0-9a-f])/

/** The id of the container whose process the kernel killed because memory ran out; undefined for any other line. */
export const oomKilledContainer = (kernelLine: string): string | undefined => OOM_VICTIM.exec(kernelLine)?.[1]

/** A run that ended. `startedAt`: null if the start of this run is unknown. */
export interface RunEnd {
  readonly code: number
  readonly startedAt: string | null
  readonly finishedAt: string
}

/** The exit codes of a runtime that could not execute the program. */
const REFUSED_CODES: readonly number[] = [1, 255]
/** On a busy machine seconds pass between the start of a run and the end of a runtime that executes nothing. */
const REFUSED_WITHIN_MS = 10_000

/** Whether the runtime may have failed to execute the program of a run, so that its log is worth reading. */
export const mayBeRefused = ({ code, startedAt, finishedAt }: RunEnd): boolean =>
  REFUSED_CODES.includes(code) &&
  (startedAt === null || Date.parse(finishedAt) - Date.parse(startedAt) < REFUSED_WITHIN_MS)

/** The runtime prints this line into the container's log if the kernel refuses to execute the program. */
const REFUSED = /^\S+ exec .+: (exec format error|no such file or directory|permission denied)\s*$/

/**
 * Explains the last line of a run, with its timestamp, if the runtime wrote it because it could not execute the program;
 * else undefined. The text is ours: a log line is never part of a report.
 */
export function explainRuntimeLine(line: string, architecture: string): string | undefined {
  const machine = architecture === 'x64' ? 'amd64' : architecture
  switch (REFUSED.exec(line)?.[1]) {
    case 'exec format error':
      return `exec format error: the program is built for another architecture than this machine, linux/${machine}`
    case 'no such file or directory':
      return 'no such file or directory: the image lacks the interpreter or the loader that the program needs'
    case 'permission denied':
      return 'permission denied: the program or its interpreter is not executable'
    default:
      return undefined
  }
}

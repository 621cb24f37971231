// Describes how a container's run ended, from the engine's exit code: the signal, and the memory limit of an OOM kill.

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

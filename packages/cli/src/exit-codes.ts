// How a command ended, for the script that called it. Public behaviour: a number is never given another meaning.

export const EXIT = {
  ok: 0,
  error: 1,
  usage: 2,
  rejected: 3,
  /** Accepted, but not placed or not well within the time of `--wait`. */
  notReady: 4,
  notFound: 5,
  conflict: 6,
  /** Unreachable or unauthenticated. */
  unreachable: 7,
  interrupted: 130,
} as const

export type ExitCode = number

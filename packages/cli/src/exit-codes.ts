// Exit codes for calling scripts. These codes are public: a code never changes its meaning.

export const EXIT = {
  ok: 0,
  error: 1,
  usage: 2,
  rejected: 3,
  /** The platform accepted the write, but the deployment was not placed or not ready within the time of `--wait`. */
  notReady: 4,
  notFound: 5,
  conflict: 6,
  /** The platform is unreachable, or it rejected the credentials. */
  unreachable: 7,
  interrupted: 130,
} as const

export type ExitCode = number

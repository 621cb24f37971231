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

export const EXIT_MEANINGS: { readonly [name in keyof typeof EXIT]: string } = {
  ok: 'success',
  error: 'any other error',
  usage: 'usage error',
  rejected: 'rejected by the platform or by validate',
  notReady: 'accepted, but not placed or not ready within the time of --wait',
  notFound: 'not found',
  conflict: 'conflict: someone else changed it, or the name is taken',
  unreachable: 'the platform cannot be reached or does not accept the token',
  interrupted: 'interrupted by Ctrl-C',
}

export type ExitCode = number

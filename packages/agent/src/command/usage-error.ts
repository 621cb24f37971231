// A usage error of the command line: the message names what was received and what is accepted.

export class UsageError extends Error {
  override readonly name = 'UsageError'
}

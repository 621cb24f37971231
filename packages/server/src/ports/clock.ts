// Time and randomness as dependencies, so that tests can replace them. Only composition roots use the system's clock.

export interface Clock {
  /** Wall-clock time in milliseconds since 1970. */
  now(): number
}

export interface IdSource {
  /** A new ULID: 26 characters that sort by time. */
  ulid(): string
  uuid(): string
  /** Returns cryptographically random bytes. */
  bytes(count: number): Uint8Array
}

/** The current time in the format of all records and responses. */
export function timestamp(clock: Clock): string {
  const now = clock.now()
  if (now !== lastMs) {
    lastMs = now
    lastText = new Date(now).toISOString()
  }
  return lastText
}

// The last timestamp is cached, because the records of one request, and of requests in a burst, share the same time.
let lastMs = Number.NaN
let lastText = ''

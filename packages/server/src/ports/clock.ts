// Time and randomness as dependencies, so that tests can replace them. Only composition roots use the real ones.

export interface Clock {
  /** Wall-clock time in milliseconds since 1970. */
  now(): number
}

export interface IdSource {
  /** 26 characters that sort by time. */
  ulid(): string
  uuid(): string
  /** Cryptographic randomness. */
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

// Caches the last text: one request writes several records with the same time, and requests come in bursts.
let lastMs = Number.NaN
let lastText = ''

// Time and randomness, named so that they can be given. Only compose.ts takes the real ones.

export interface Clock {
  /** Milliseconds since 1970, for what people read. */
  now(): number
}

export interface IdSource {
  /** 26 characters that sort by time. */
  ulid(): string
  uuid(): string
  /** Cryptographic randomness. */
  bytes(count: number): Uint8Array
}

/** The form in which every record and answer writes a time. */
export function timestamp(clock: Clock): string {
  const now = clock.now()
  if (now !== lastMs) {
    lastMs = now
    lastText = new Date(now).toISOString()
  }
  return lastText
}

// One request writes several records with the same time, and requests come in bursts.
let lastMs = Number.NaN
let lastText = ''

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
export const timestamp = (clock: Clock): string => new Date(clock.now()).toISOString()

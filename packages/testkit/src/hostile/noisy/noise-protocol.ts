// Messages between a test and the process that attacks a server for one tenant.

export interface Noise {
  readonly port: number
  readonly tokens: readonly string[]
  /** Requests of each token in a minute, sent whether or not earlier ones were answered. */
  readonly perTokenMinute: number
  /** Connections that never send a whole request. Those that the server ends are opened again. */
  readonly halfOpen: number
  /** Requests whose body arrives by one byte a second, three quarters of them with a valid token. */
  readonly slowBodies: number
  /** Callers that ask for the same explanation again as soon as it was answered. */
  readonly whyLoops: number
}

export interface NoiseReport {
  readonly kind: 'report'
  /** Numbers of responses by request and status; status 0 is none. */
  readonly answers: { readonly [request: string]: number }
  /** Requests that were not sent because too many were unanswered. */
  readonly skipped: number
  /** Half-open connections and slow bodies at this moment, and how many were opened in all. */
  readonly held: number
  readonly opened: number
}

export type ToNoise = { readonly kind: 'begin'; readonly noise: Noise } | { readonly kind: 'report' }
export type FromNoise = { readonly kind: 'begun' } | NoiseReport

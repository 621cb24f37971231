// What the watched server and the test say to each other.

export type ToServer =
  | { readonly kind: 'serve'; readonly settings: string }
  | { readonly kind: 'health' }
  | { readonly kind: 'stop' }

export interface Health {
  readonly kind: 'health'
  /** The longest time that the server's own work kept its event loop, since the last question. */
  readonly worstStallMs: number
  /** The same by the wall clock, other processes of the machine included. */
  readonly worstDelayMs: number
  /** After a collection of garbage. */
  readonly heapUsed: number
  readonly rss: number
  /** Log lines of severity error and above. */
  readonly errors: readonly string[]
}

export type FromServer = { readonly kind: 'ready' } | Health

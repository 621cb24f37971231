// Messages between the observed server and the test.

export type ToServer =
  | { readonly kind: 'serve'; readonly settings: string }
  | { readonly kind: 'health' }
  | { readonly kind: 'stop' }

export interface Health {
  readonly kind: 'health'
  /** The longest time for which the server's own work blocked its event loop, since the last request. */
  readonly worstStallMs: number
  /** The same by the wall clock, including other processes of the machine. */
  readonly worstDelayMs: number
  /** After a garbage collection. */
  readonly heapUsed: number
  readonly rss: number
  /** Log lines of severity error and above. */
  readonly errors: readonly string[]
}

export type FromServer = { readonly kind: 'ready' } | Health

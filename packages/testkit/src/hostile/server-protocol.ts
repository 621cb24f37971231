// Messages between a test and the server process whose event loop and memory the test measures.

export type ToServer =
  | { readonly kind: 'serve'; readonly settings: string }
  | { readonly kind: 'health' }
  | { readonly kind: 'stop' }

export interface Health {
  readonly kind: 'health'
  /** The longest time since the last measurement for which the server's own work blocked its event loop. */
  readonly worstStallMs: number
  /** The longest wall-clock delay of the server's event loop, including delays by other processes of the machine. */
  readonly worstDelayMs: number
  /** Used heap memory after a garbage collection. */
  readonly heapUsed: number
  readonly rss: number
  /** The server's log lines of severity error and above. */
  readonly errors: readonly string[]
}

export type FromServer = { readonly kind: 'ready' } | Health

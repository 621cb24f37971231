// Where the platform is and who asks. The few things of the runtime that a client needs are given here, so that it runs in a
// browser and under a test's own clock alike.

/** One request and its answer, for whoever wants to show it. It never holds a token, a body or a query. */
export interface Exchange {
  readonly method: string
  readonly path: string
  /** Absent where no answer came. */
  readonly status?: number
  readonly requestId?: string
  readonly tookMs: number
}

export interface ClientRuntime {
  fetch(url: string, init: RequestInit): Promise<Response>
  now(): number
  /** Rejects when the signal fires. */
  wait(ms: number, signal: AbortSignal): Promise<void>
  /** A new Idempotency-Key: visible ASCII, never used before. */
  newKey(): string
}

export interface Connection {
  /** Without a slash at its end: `https://holdfast.example`. */
  readonly baseUrl: string
  readonly token?: string
  /** For a platform administrator: the tenant to act in. */
  readonly tenant?: string
  /** Of a whole call, its repetitions included. */
  readonly deadlineMs: number
  readonly runtime: ClientRuntime
  /** Ends every call that has no signal of its own. */
  readonly signal?: AbortSignal
  observe?(exchange: Exchange): void
}

export const DEFAULT_DEADLINE_MS = 30_000

export const defaultRuntime: ClientRuntime = {
  fetch: (url, init) => fetch(url, init),
  now: () => performance.now(),
  wait: (ms, signal) =>
    new Promise((resolve, reject) => {
      const giveUp = (): void => {
        clearTimeout(timer)
        reject(signal.reason)
      }
      const timer = setTimeout(() => {
        signal.removeEventListener('abort', giveUp)
        resolve()
      }, ms)
      signal.addEventListener('abort', giveUp, { once: true })
      if (signal.aborted) giveUp()
    }),
  newKey: () => crypto.randomUUID(),
}

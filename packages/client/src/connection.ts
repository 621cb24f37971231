// The connection of a client: address, credentials, and the runtime functions that the client calls. The runtime is
// replaceable, so that the client also works in browsers and in tests with a scripted clock.

/** One request and its response, for logging. It never contains a token, a body or a query. */
export interface Exchange {
  readonly method: string
  readonly path: string
  /** HTTP status of the response; absent if there was no response. */
  readonly status?: number
  readonly requestId?: string
  readonly tookMs: number
}

export interface ClientRuntime {
  fetch(url: string, init: RequestInit): Promise<Response>
  now(): number
  /** Waits for a time. Rejects when the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>
  /** A new Idempotency-Key: visible ASCII, never used before. */
  newKey(): string
}

export interface Connection {
  /** Address of the server without a trailing slash, such as `https://holdfast.example`. */
  readonly baseUrl: string
  readonly token?: string
  /** The tenant to act in; for platform administrators only. */
  readonly tenant?: string
  /** Time limit of a call, including its retries. */
  readonly deadlineMs: number
  readonly runtime: ClientRuntime
  /** Aborts every call that was made without its own signal. */
  readonly signal?: AbortSignal
  observe?(exchange: Exchange): void
}

export const DEFAULT_DEADLINE_MS = 30_000

export const defaultRuntime: ClientRuntime = {
  fetch: (url, init) => fetch(url, init),
  now: () => performance.now(),
  wait: (ms, signal) =>
    new Promise((resolve, reject) => {
      const abort = (): void => {
        clearTimeout(timer)
        reject(signal.reason)
      }
      const timer = setTimeout(() => {
        signal.removeEventListener('abort', abort)
        resolve()
      }, ms)
      signal.addEventListener('abort', abort, { once: true })
      if (signal.aborted) abort()
    }),
  newKey: () => crypto.randomUUID(),
}

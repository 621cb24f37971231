// Sends GETs at a constant rate over kept-alive and new connections, to several addresses at once, and records every
// failure with its time and cause. The rate does not depend on responses: a slow server receives the next request on time
// too.

import { Agent, type ClientRequest, request } from 'node:http'

export interface LoadOptions {
  /** Base URLs that receive requests in turn, such as `http://10.99.0.11:80`. */
  readonly targets: readonly string[]
  readonly host: string
  readonly path?: string
  /** Requests per second for all targets together. */
  readonly perSecond: number
  /** Returns whether a response is correct. By default a response with status 200 is correct. */
  accept?(status: number, text: string): boolean
  readonly timeoutMs?: number
  /**
   * Sends a GET once more if its new connection was closed before the first byte of the response. A reloaded router closes
   * connections on which it has not read a request yet.
   */
  readonly resends?: boolean
}

export interface LoadFailure {
  /** Number of requests that had been sent before this one. */
  readonly number: number
  /** Times at which the request was sent and its failure was noticed, in milliseconds since the load began. */
  readonly sentMs: number
  readonly atMs: number
  readonly target: string
  readonly kept: boolean
  readonly cause: string
}

export interface LoadResult {
  readonly sent: number
  readonly answered: number
  readonly failures: readonly LoadFailure[]
  /**
   * Number of GETs on a reused connection that was closed before the first byte of the response. Such a GET is sent once
   * more, as RFC 9112 9.3.1 allows.
   */
  readonly reconnects: number
  /** The requests on new connections that were sent once more; empty without `resends`. */
  readonly resent: readonly LoadFailure[]
  /** Number of responses by response text. */
  readonly texts: ReadonlyMap<string, number>
  readonly slowestMs: number
}

export interface Load {
  /** The result of the load so far. */
  result(): LoadResult
  /** Stops the load; resolves when the last request is answered. */
  stop(): Promise<LoadResult>
}

const TIMEOUT_MS = 10_000
const TICK_MS = 5
const KEPT_SOCKETS = 16
const TIMES_SHOWN = 20

interface Shot {
  readonly number: number
  readonly target: string
  readonly kept: boolean
  /** Whether the request was sent before, on a reused connection or on a new one. */
  readonly wasKept: boolean
  readonly wasResent: boolean
  /** Time of the request's first attempt. */
  readonly sentMs: number
}

export function startLoad(options: LoadOptions): Load {
  const begunMs = performance.now()
  const agents = new Map(options.targets.map((target) => [target, newAgent()]))
  const failures: LoadFailure[] = []
  const resent: LoadFailure[] = []
  const texts = new Map<string, number>()
  const open = new Set<Promise<void>>()
  let [sent, answered, reconnects, slowestMs] = [0, 0, 0, 0]

  const sinceBegun = (): number => Math.round(performance.now() - begunMs)
  const failureOf = ({ number, target, kept, sentMs }: Shot, cause: string): LoadFailure => ({
    number,
    sentMs,
    atMs: sinceBegun(),
    target,
    kept,
    cause,
  })
  const fail = (shot: Shot, cause: string): void => void failures.push(failureOf(shot, cause))
  /** The next attempt of a request that the server closed unanswered; undefined if it may not be sent again. */
  function nextAttempt(shot: Shot, { reused, cause }: Closed): Shot | undefined {
    if (reused && !shot.wasKept) {
      reconnects += 1
      return { ...shot, wasKept: true, kept: false }
    }
    if (reused || shot.wasResent || options.resends !== true) return undefined
    resent.push(failureOf(shot, cause))
    return { ...shot, wasResent: true, kept: false }
  }
  async function shoot(shot: Shot): Promise<void> {
    const firedMs = performance.now()
    const outcome = await ask(options, shot, agents.get(shot.target))
    slowestMs = Math.max(slowestMs, performance.now() - firedMs)
    const next = outcome.kind === 'closed' ? nextAttempt(shot, outcome) : undefined
    if (next !== undefined) return shoot(next)
    if (outcome.kind !== 'answer') return fail(shot, outcome.cause)
    const { status, text } = outcome
    if (!(options.accept?.(status, text) ?? status === 200)) return fail(shot, `${status} ${text.trim()}`)
    answered += 1
    texts.set(text, (texts.get(text) ?? 0) + 1)
  }
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - begunMs) * options.perSecond) / 1000)
    while (sent < due) {
      const target = options.targets[sent % options.targets.length] ?? ''
      // Requests alternate between kept-alive and new connections, on every target.
      const kept = Math.floor(sent / options.targets.length) % 2 === 0
      const first = { number: sent, target, kept, wasKept: false, wasResent: false, sentMs: sinceBegun() }
      sent += 1
      const one = shoot(first).finally(() => open.delete(one))
      open.add(one)
    }
  }, TICK_MS)
  const result = (): LoadResult => ({
    sent,
    answered,
    failures: [...failures],
    reconnects,
    resent: [...resent],
    texts: new Map(texts),
    slowestMs: Math.round(slowestMs),
  })
  return {
    result,
    async stop() {
      clearInterval(timer)
      await Promise.all(open)
      for (const agent of agents.values()) agent.destroy()
      return result()
    },
  }
}

/** One line about failed requests for the message of an assertion: how many by cause, when, and how slow. */
export function describeFailures(failures: readonly LoadFailure[]): string {
  const causes = [...Map.groupBy(failures, ({ cause }) => cause)].map(
    ([cause, of]) => `${of.length} x ${cause}`,
  )
  const times = failures.map(({ sentMs, atMs }) => `${sentMs}-${atMs}`).slice(0, TIMES_SHOWN)
  return `${failures.length} failed (${causes.join(', ')}), sent and failed at ms ${times.join(', ')}`
}

const newAgent = (): Agent => new Agent({ keepAlive: true, maxSockets: KEPT_SOCKETS })

/** The connection was closed before the first byte of the response. */
interface Closed {
  readonly kind: 'closed'
  readonly cause: string
  readonly reused: boolean
}
type Outcome =
  | { readonly kind: 'answer'; readonly status: number; readonly text: string }
  | { readonly kind: 'failed'; readonly cause: string }
  | Closed

function ask(options: LoadOptions, shot: Shot, agent: Agent | undefined): Promise<Outcome> {
  const { host, path = '/', timeoutMs = TIMEOUT_MS } = options
  return new Promise((resolve) => {
    const sent = request(
      `${shot.target}${path}`,
      {
        headers: { host },
        agent: shot.kept ? (agent ?? false) : false,
        signal: AbortSignal.timeout(timeoutMs),
      },
      (answer) => {
        const parts: Buffer[] = []
        answer.on('data', (part: Buffer) => parts.push(part))
        // Part of the response has arrived, so the failed request is not retried.
        answer.on('error', (error) => resolve({ kind: 'failed', cause: `in the response: ${error.message}` }))
        answer.on('end', () =>
          resolve({
            kind: 'answer',
            status: answer.statusCode ?? 0,
            text: Buffer.concat(parts).toString(),
          }),
        )
      },
    )
    sent.on('error', (error) => resolve(outcomeOf(sent, causeOf(error))))
    sent.end()
  })
}

function outcomeOf(sent: ClientRequest, cause: string): Outcome {
  const { reusedSocket: reused, socket } = sent
  const isClosed = cause.includes('ECONNRESET') || cause.includes('EPIPE')
  const isUnanswered = reused || socket === null || socket.bytesRead === 0
  return isClosed && isUnanswered ? { kind: 'closed', cause, reused } : { kind: 'failed', cause }
}

const causeOf = (error: Error): string =>
  'code' in error ? `${String(error.code)} ${error.message}` : error.message

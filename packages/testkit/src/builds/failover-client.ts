// An API client that knows several servers, as careful clients do: a request that a stopping server does not answer, or
// answers with "unavailable", is sent again to the next server. Requests with an effect carry an Idempotency-Key.

import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { type ApiAnswer, type ApiClient, createApiClient } from '../platform/api-client.ts'

export interface FailoverClient extends ApiClient {
  /** Number of repeated attempts by cause: `no answer`, or the code with which a server stated that it is unavailable. */
  repeated(): ReadonlyMap<string, number>
}

const UNAVAILABLE = new Set([502, 503, 504])
/** Time in which a request must be answered. A node reconnects within seconds after its server stopped. */
const PATIENCE_MS = 20_000
const ATTEMPT_MS = 10_000
const PAUSE_MS = 100

export function createFailoverClient(urls: readonly string[], token: string): FailoverClient {
  const clients = urls.map((url) => createApiClient(url, token))
  let turn = 0
  const repeated = new Map<string, number>()
  const send: ApiClient['send'] = async (method, path, body, headers = {}) => {
    const all = method === 'POST' ? { 'idempotency-key': randomUUID(), ...headers } : headers
    const deadline = performance.now() + PATIENCE_MS
    turn += 1
    for (let attempt = 0; ; attempt += 1) {
      const client = clients[(turn + attempt) % clients.length]
      const outcome = await tryOnce(() => client?.send(method, path, body, all))
      if (!(outcome instanceof Error) && !UNAVAILABLE.has(outcome.status)) return outcome
      if (performance.now() > deadline) return outcome instanceof Error ? Promise.reject(outcome) : outcome
      const cause = outcome instanceof Error ? 'no answer' : (outcome.codes[0] ?? String(outcome.status))
      repeated.set(cause, (repeated.get(cause) ?? 0) + 1)
      await pause(PAUSE_MS)
    }
  }
  return {
    send,
    get: (path, headers) => send('GET', path, undefined, headers),
    post: (path, body, headers) => send('POST', path, body, headers),
    put: (path, body, headers) => send('PUT', path, body, headers),
    delete: (path, headers) => send('DELETE', path, undefined, headers),
    repeated: () => repeated,
  }
}

async function tryOnce(ask: () => Promise<ApiAnswer> | undefined): Promise<ApiAnswer | Error> {
  const late = new AbortController()
  try {
    const timeout = pause(ATTEMPT_MS, undefined, { signal: late.signal }).then(() => undefined)
    const answer = await Promise.race([ask(), timeout])
    return answer ?? new Error(`no answer within ${ATTEMPT_MS} ms`)
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  } finally {
    late.abort()
  }
}

// Random secret values with all kinds of characters, to be searched for later, and an API client that records its responses.

import { randomBytes } from 'node:crypto'
import type { ApiClient } from '../platform/api-client.ts'

export interface CanaryValues {
  /** Every value that was generated here or added. */
  readonly all: ReadonlySet<string>
  /** A document of this many new values, with keys k0, k1, … */
  document(count: number): { [key: string]: string }
  /** Adds values that were generated elsewhere. */
  learn(document: { readonly [key: string]: string }): void
}

const WRAPS: readonly ((random: string) => string)[] = [
  (random) => random,
  (random) => `${random}+/=${random.slice(0, 4)}`,
  (random) => `${random}"\\<&>'$(x)`,
  (random) => `pä ${random} 100%\nof it`,
]

export function createCanaryValues(): CanaryValues {
  const all = new Set<string>()
  const next = (): string => {
    const value = WRAPS[all.size % WRAPS.length]?.(randomBytes(12).toString('hex')) ?? ''
    all.add(value)
    return value
  }
  return {
    all,
    document: (count) => Object.fromEntries(keysOf(count).map((key) => [key, next()])),
    learn(document) {
      for (const value of Object.values(document)) all.add(value)
    },
  }
}

export const keysOf = (count: number): string[] => Array.from({ length: count }, (_, at) => `k${at}`)

/** Records every response, headers and body. */
export function recording(api: ApiClient, answers: string[]): ApiClient {
  const send: ApiClient['send'] = async (...request) => {
    const answer = await api.send(...request)
    const head = [...answer.headers].map(([name, value]) => `${name}: ${value}`)
    answers.push(`${head.join('\n')}\n${answer.text}`)
    return answer
  }
  return {
    send,
    get: (path, headers) => send('GET', path, undefined, headers),
    post: (path, body, headers) => send('POST', path, body, headers),
    put: (path, body, headers) => send('PUT', path, body, headers),
    delete: (path, headers) => send('DELETE', path, undefined, headers),
  }
}

/** Records a stream of the API until the returned function is called. */
export function recordStream(url: string, token: string, answers: string[]): () => void {
  const ended = new AbortController()
  const listen = async () => {
    const { signal } = ended
    const { body } = await fetch(url, { headers: { authorization: `Bearer ${token}` }, signal })
    for await (const chunk of body ?? []) answers.push(Buffer.from(chunk).toString())
  }
  listen().catch(() => {})
  return () => ended.abort()
}

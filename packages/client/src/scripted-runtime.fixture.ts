// A client runtime for tests: scripted responses, waits that take no time, and a record of the requests.

import type { ClientRuntime } from './connection.ts'

export interface SentRequest {
  readonly url: string
  readonly init: RequestInit
}

export interface ScriptedRuntime {
  readonly runtime: ClientRuntime
  readonly requests: SentRequest[]
  readonly pauses: number[]
}

export type ScriptedResponse = Response | Error

export function scriptRuntime(...responses: readonly ScriptedResponse[]): ScriptedRuntime {
  const requests: SentRequest[] = []
  const pauses: number[] = []
  let keys = 0
  const runtime: ClientRuntime = {
    async fetch(url, init) {
      const response = responses[requests.length]
      requests.push({ url, init })
      if (response === undefined) throw new Error('no scripted response is left')
      if (response instanceof Error) throw response
      return response
    },
    now: () => 0,
    wait: async (ms) => void pauses.push(ms),
    newKey() {
      keys += 1
      return `key-${keys}`
    },
  }
  return { runtime, requests, pauses }
}

export const jsonResponse = (
  status: number,
  body: unknown,
  headers: { [name: string]: string } = {},
): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } })

/** The error that fetch throws for a network failure with this code. */
export const networkError = (code: string): Error =>
  new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) })

export function header({ init }: SentRequest, name: string): string | null {
  return new Headers(init.headers).get(name)
}

// A runtime whose answers are written down beforehand and whose pauses take no time; it remembers what was requests.

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

export function scriptRuntime(...answers: readonly ScriptedResponse[]): ScriptedRuntime {
  const requests: SentRequest[] = []
  const pauses: number[] = []
  let keys = 0
  const runtime: ClientRuntime = {
    async fetch(url, init) {
      const answer = answers[requests.length]
      requests.push({ url, init })
      if (answer === undefined) throw new Error('the script has ended')
      if (answer instanceof Error) throw answer
      return answer
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

export const jsonAnswer = (
  status: number,
  body: unknown,
  headers: { [name: string]: string } = {},
): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } })

/** As fetch puts it. */
export const networkError = (code: string): Error =>
  new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) })

export function header({ init }: SentRequest, name: string): string | null {
  return new Headers(init.headers).get(name)
}

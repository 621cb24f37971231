// A world whose answers are written down beforehand and whose pauses take no time; it remembers what was asked.

import type { World } from './connection.ts'

export interface Asked {
  readonly url: string
  readonly init: RequestInit
}

export interface ScriptedWorld {
  readonly world: World
  readonly asked: Asked[]
  readonly pauses: number[]
}

export type Scripted = Response | Error

export function scriptWorld(...answers: readonly Scripted[]): ScriptedWorld {
  const asked: Asked[] = []
  const pauses: number[] = []
  let keys = 0
  const world: World = {
    async fetch(url, init) {
      const answer = answers[asked.length]
      asked.push({ url, init })
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
  return { world, asked, pauses }
}

export const jsonAnswer = (
  status: number,
  body: unknown,
  headers: { [name: string]: string } = {},
): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } })

/** As fetch puts it. */
export const silence = (code: string): Error =>
  new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) })

export function header({ init }: Asked, name: string): string | null {
  return new Headers(init.headers).get(name)
}

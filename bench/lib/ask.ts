// One GET over a connection of its own: what a user sees who comes at this moment.

import { request } from 'node:http'

const ANSWER_MS = 5000

interface Answer {
  /** 0: none. */
  readonly status: number
  readonly text: string
}

function ask(url: string, host: string): Promise<Answer> {
  return new Promise((resolve) => {
    const none = (): void => resolve({ status: 0, text: '' })
    const signal = AbortSignal.timeout(ANSWER_MS)
    const asked = request(url, { headers: { host }, agent: false, signal }, (answer) => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('error', none)
      answer.on('data', (part: string) => {
        text += part
      })
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
    })
    asked.on('error', none)
    asked.end()
  })
}

const PAUSE_MS = 2
const GIVE_UP_MS = 30_000

/** Asks again and again; when the first answer came that is as it should be, on the clock of performance.now(). */
export async function untilAnswered(
  url: string,
  host: string,
  accept: (answer: Answer) => boolean,
): Promise<number> {
  const began = performance.now()
  while (performance.now() - began < GIVE_UP_MS) {
    if (accept(await ask(url, host))) return performance.now()
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
  throw new Error(`${host} was not answered as it should be within ${GIVE_UP_MS} ms`)
}

// Sends one GET request over a new connection, like a new client.

import { request } from 'node:http'

const ANSWER_MS = 5000

interface Answer {
  /** HTTP status of the response; 0 if there was no response. */
  readonly status: number
  readonly text: string
}

function ask(url: string, host: string): Promise<Answer> {
  return new Promise((resolve) => {
    const none = (): void => resolve({ status: 0, text: '' })
    const signal = AbortSignal.timeout(ANSWER_MS)
    const sent = request(url, { headers: { host }, agent: false, signal }, (answer) => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('error', none)
      answer.on('data', (part: string) => {
        text += part
      })
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
    })
    sent.on('error', none)
    sent.end()
  })
}

const PAUSE_MS = 2
const TIMEOUT_MS = 30_000

/** Polls until the response is as expected. Returns the time of that response, on the clock of performance.now(). */
export async function untilAnswered(
  url: string,
  host: string,
  accept: (answer: Answer) => boolean,
): Promise<number> {
  const began = performance.now()
  while (performance.now() - began < TIMEOUT_MS) {
    if (accept(await ask(url, host))) return performance.now()
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
  throw new Error(`${host} did not return the expected response within ${TIMEOUT_MS} ms`)
}

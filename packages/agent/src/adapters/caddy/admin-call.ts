// One call of Caddy's admin API. A connection of its own for each: Caddy closes them all whenever its configuration changes.

import { request } from 'node:http'
import { RouterError } from '../../ports/router.ts'

const MAX_MESSAGE = 300
/** Caddy checks where a browser comes from; what no browser sends is this host. */
const HEADERS = { host: 'caddy', 'content-type': 'application/json' }

/** The answer, which is JSON or nothing. */
export function callAdmin(
  socketPath: string,
  method: 'GET' | 'POST',
  path: string,
  deadlineMs: number,
  body = '',
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void =>
      reject(error instanceof RouterError ? error : new RouterError('unavailable', error.message))
    const headers = { ...HEADERS, 'content-length': Buffer.byteLength(body) }
    const signal = AbortSignal.timeout(deadlineMs)
    const asked = request({ socketPath, path, method, headers, agent: false, signal }, (answer) => {
      const parts: Buffer[] = []
      answer.on('data', (part: Buffer) => parts.push(part))
      answer.on('error', fail)
      answer.on('end', () => {
        try {
          resolve(readAnswer(answer.statusCode ?? 0, Buffer.concat(parts).toString()))
        } catch (error) {
          fail(error instanceof Error ? error : new Error(String(error)))
        }
      })
    })
    asked.on('error', fail)
    asked.end(body)
  })
}

function readAnswer(status: number, text: string): unknown {
  if (status !== 200)
    throw new RouterError('refused', `Caddy answers ${status}: ${text.slice(0, MAX_MESSAGE)}`)
  return text.trim() === '' ? null : JSON.parse(text)
}

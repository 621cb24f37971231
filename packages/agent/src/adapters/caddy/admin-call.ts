// Calls Caddy's admin API. Each call uses a new connection, because Caddy closes all connections when its configuration
// changes.

import { request } from 'node:http'
import { RouterError } from '../../ports/router.ts'

const MAX_MESSAGE = 300
/** Headers of a call. Caddy rejects requests with a host header that a browser could have sent. */
const HEADERS = { host: 'caddy', 'content-type': 'application/json' }

/** Calls the admin API. Resolves with the parsed JSON answer, or null if the answer is empty. */
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
    const call = request({ socketPath, path, method, headers, agent: false, signal }, (answer) => {
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
    call.on('error', fail)
    call.end(body)
  })
}

function readAnswer(status: number, text: string): unknown {
  if (status !== 200)
    throw new RouterError('refused', `Caddy answered ${status}: ${text.slice(0, MAX_MESSAGE)}`)
  return text.trim() === '' ? null : JSON.parse(text)
}

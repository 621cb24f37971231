// Opens a hijacked connection to the engine: after the HTTP request the connection carries raw bytes in both directions.

import { type IncomingMessage, request } from 'node:http'
import type { Duplex } from 'node:stream'
import { EngineError } from '../../ports/engine.ts'
import { classifyError } from './classify-error.ts'

export interface HijackRequest {
  readonly socketPath: string
  /** Request path; starts with the API version. */
  readonly path: string
  readonly body: object
  /** Timeout until the engine upgrades the connection. The upgraded connection has no timeout. */
  readonly deadlineMs: number
}

export async function openHijacked({ socketPath, path, body, deadlineMs }: HijackRequest): Promise<Duplex> {
  const text = JSON.stringify(body)
  const headers = {
    connection: 'Upgrade',
    upgrade: 'tcp',
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  }
  const sent = request({ socketPath, method: 'POST', path, headers, agent: false })
  const timeout = setTimeout(
    () => sent.destroy(new EngineError('timeout', `The engine did not answer within ${deadlineMs} ms.`)),
    deadlineMs,
  )
  try {
    return await new Promise((resolve, reject) => {
      sent.on('error', reject)
      sent.on('upgrade', (_response, socket, head) => {
        if (head.length > 0) socket.unshift(head)
        resolve(socket)
      })
      sent.on('response', (response) => rejectWith(response, reject))
      sent.end(text)
    })
  } catch (error) {
    throw classifyError(error)
  } finally {
    clearTimeout(timeout)
  }
}

const MAX_REASON = 300

function rejectWith(response: IncomingMessage, reject: (error: Error) => void): void {
  let reason = ''
  response.setEncoding('utf8')
  response.on('data', (part: string) => {
    if (reason.length < MAX_REASON) reason += part
  })
  response.on('error', reject)
  response.on('end', () => {
    const error = new Error(reason.slice(0, MAX_REASON))
    reject(Object.assign(error, { statusCode: response.statusCode }))
  })
}

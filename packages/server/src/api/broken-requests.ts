// What the HTTP parser cannot read: one answer, then the connection ends, since nobody knows where the next request would
// begin. SAFETY 2, row 20. Garbage behind a sound request must not answer for it: that request is answered first.

import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { reject } from '@holdfast/core'
import type { FastifyInstance } from 'fastify'
import { refusalBody } from './reply.ts'

export interface BrokenRequests {
  /** Fastify's `clientErrorHandler`. */
  answer(error: Error & { readonly code?: string }, socket: Socket): void
  /** Keeps count of the requests that a connection still owes an answer to. */
  watch(app: FastifyInstance): void
}

export function createBrokenRequests(publicUrl: string): BrokenRequests {
  const owed = new WeakMap<Socket, number>()
  const ending = new WeakSet<Socket>()
  const count = (socket: Socket, change: 1 | -1): number => {
    const now = Math.max(0, (owed.get(socket) ?? 0) + change)
    owed.set(socket, now)
    return now
  }
  return {
    watch(app) {
      // A request counts once it has arrived whole: from here on it may be carried out.
      app.addHook('preHandler', async ({ raw }) => void count(raw.socket, 1))
      app.addHook('onResponse', async (request) => {
        const { socket } = request.raw
        if (count(socket, -1) === 0 && ending.has(socket)) socket.end()
      })
    },
    answer(error, socket) {
      if (ending.has(socket)) return
      ending.add(socket)
      socket.pause()
      if ((owed.get(socket) ?? 0) > 0) return
      if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy()
      else socket.end(answerText(error.code, publicUrl), () => socket.destroy())
    },
  }
}

/** The statuses that HTTP itself has for a request too slow or too large to read; DECISIONS 3. */
const LAYER_STATUS: { readonly [code: string]: number } = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
}
const BODY_ERRORS: ReadonlySet<string> = new Set(['HPE_INVALID_CHUNK_SIZE', 'HPE_STRICT'])

function answerText(code = '', publicUrl: string): string {
  const status = LAYER_STATUS[code] ?? 400
  const body = status === 400 ? rejectionText(code, publicUrl) : JSON.stringify({ error: STATUS_CODES[status] })
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    '',
    body,
  ].join('\r\n')
}

function rejectionText(code: string, publicUrl: string): string {
  const rejection = BODY_ERRORS.has(code)
    ? reject('body_malformed', 'body', undefined, { fault: 'its chunks are not as RFC 9112 writes them' })
    : reject('header_invalid', 'request', undefined, {
        accepted: 'a request line and headers as RFC 9112 writes them',
      })
  return JSON.stringify(refusalBody([rejection], publicUrl))
}

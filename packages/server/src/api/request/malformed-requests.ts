// What the HTTP parser cannot read: one answer, then the connection ends, since nobody knows where the next request would
// begin. SAFETY 2, row 20. Garbage behind a sound request must not answer for it: that request is answered first.

import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { reject } from '@holdfast/core'
import type { FastifyInstance } from 'fastify'
import { refusalBody } from '../reply.ts'

export interface BrokenRequests {
  /** Fastify's `clientErrorHandler`. */
  answer(error: Error & { readonly code?: string }, socket: Socket): void
  /** Remembers which requests each connection still owes an answer. */
  watch(app: FastifyInstance): void
}

/** So long may the other end take to read the last answer; what it still sends is thrown away. */
const LINGER_MS = 1000

export function createBrokenRequests(publicUrl: string): BrokenRequests {
  const owed = new WeakMap<Socket, Set<IncomingMessage>>()
  const ending = new WeakSet<Socket>()
  // What arrived whole may be carried out, so it gets its own answer; what broke off is carried out never.
  const owesAnswer = (socket: Socket) => [...(owed.get(socket) ?? [])].some(({ complete }) => complete)
  return {
    watch(app) {
      app.addHook('onRequest', ({ raw }, _reply, done) => {
        const { socket } = raw
        owed.set(socket, (owed.get(socket) ?? new Set()).add(raw))
        done()
      })
      app.addHook('onResponse', ({ raw }, _reply, done) => {
        const { socket } = raw
        owed.get(socket)?.delete(raw)
        if (ending.has(socket) && !owesAnswer(socket)) endGently(socket)
        done()
      })
    },
    answer(error, socket) {
      if (ending.has(socket)) return
      ending.add(socket)
      if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy()
      else if (!owesAnswer(socket)) endGently(socket, answerText(error.code, publicUrl))
    },
  }
}

/** A socket that is closed with unread bytes resets the connection, and the answer is lost with it. */
function endGently(socket: Socket, text = ''): void {
  socket.end(text)
  socket.once('end', () => socket.destroy())
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
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
  const body =
    status === 400 ? rejectionText(code, publicUrl) : JSON.stringify({ error: STATUS_CODES[status] })
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

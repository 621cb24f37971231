// Requests that the HTTP parser cannot read get one response, and the connection is closed, because the start of the next
// request is unknown. A valid request before the malformed bytes gets its own response first.

import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { reject } from '@holdfast/core'
import type { FastifyInstance } from 'fastify'
import { rejectionBody } from '../reply.ts'

export interface MalformedRequests {
  /** Handler for Fastify's option `clientErrorHandler`. */
  handle(error: Error & { readonly code?: string }, socket: Socket): void
  /** Tracks the unanswered requests of each connection of the server. */
  watch(app: FastifyInstance): void
}

/** Time that the client has to read the response before the connection is closed. Bytes from the client are discarded. */
const LINGER_MS = 1000

export function createMalformedRequests(publicUrl: string): MalformedRequests {
  const unanswered = new WeakMap<Socket, Set<IncomingMessage>>()
  const ending = new WeakSet<Socket>()
  // A complete request may have been executed, so it gets its own response. An incomplete request is never executed.
  const hasUnanswered = (socket: Socket) =>
    [...(unanswered.get(socket) ?? [])].some(({ complete }) => complete)
  return {
    watch(app) {
      app.addHook('onRequest', ({ raw }, _reply, done) => {
        const { socket } = raw
        unanswered.set(socket, (unanswered.get(socket) ?? new Set()).add(raw))
        done()
      })
      app.addHook('onResponse', ({ raw }, _reply, done) => {
        const { socket } = raw
        unanswered.get(socket)?.delete(raw)
        if (ending.has(socket) && !hasUnanswered(socket)) endGently(socket)
        done()
      })
    },
    handle(error, socket) {
      if (ending.has(socket)) return
      ending.add(socket)
      if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesRead === 0) socket.destroy()
      else if (!hasUnanswered(socket)) endGently(socket, responseText(error.code, publicUrl))
    },
  }
}

/** Ends the connection but reads on: closing a socket with unread bytes would reset it and lose the response. */
function endGently(socket: Socket, text = ''): void {
  socket.end(text)
  socket.once('end', () => socket.destroy())
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}

/** The HTTP statuses for requests that are too slow or too large to read. */
const LAYER_STATUS: { readonly [code: string]: number } = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
}
const BODY_ERRORS: ReadonlySet<string> = new Set(['HPE_INVALID_CHUNK_SIZE', 'HPE_STRICT'])

function responseText(code = '', publicUrl: string): string {
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
    ? reject('body_malformed', 'body', undefined, { fault: 'its chunked encoding is not valid (RFC 9112)' })
    : reject('header_invalid', 'request', undefined, {
        accepted: 'a valid request line and headers (RFC 9112)',
      })
  return JSON.stringify(rejectionBody([rejection], publicUrl))
}

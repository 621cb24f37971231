// Dispatches HTTP upgrade requests by path. Unknown paths get a 404.

import type { IncomingMessage, Server } from 'node:http'
import type { Server as TlsServer } from 'node:https'
import type { Duplex } from 'node:stream'

/** Handles an upgrade request; returns false if the path belongs to another handler. */
export type HandleUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => boolean

export function serveUpgrades(server: Server | TlsServer, handlers: readonly HandleUpgrade[]): void {
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (!handlers.some((handle) => handle(request, socket, head))) answerUpgrade(socket, 404)
  })
}

const PHRASES: { readonly [status: number]: string } = {
  400: 'Bad Request',
  401: 'Unauthorized',
  404: 'Not Found',
  429: 'Too Many Requests',
  503: 'Service Unavailable',
}

/** Sends an ordinary HTTP response in place of the upgrade and closes the connection. */
export function answerUpgrade(
  socket: Duplex,
  status: number,
  headers: { readonly [name: string]: string } = {},
  body = '',
): void {
  const lines = Object.entries({
    ...headers,
    connection: 'close',
    'content-length': String(Buffer.byteLength(body)),
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  // The client may already be gone, so errors are ignored; the socket is destroyed in any case.
  socket.on('error', () => {})
  socket.end(`HTTP/1.1 ${status} ${PHRASES[status] ?? 'Error'}\r\n${lines.join('')}\r\n${body}`, () =>
    socket.destroy(),
  )
}

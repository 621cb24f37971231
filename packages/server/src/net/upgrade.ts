// Requests to upgrade, handed to whoever knows the path; what nobody knows is refused.

import type { IncomingMessage, Server } from 'node:http'
import type { Server as TlsServer } from 'node:https'
import type { Duplex } from 'node:stream'

/** False where the path is another's. */
export type TakeUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => boolean

export function serveUpgrades(server: Server | TlsServer, takers: readonly TakeUpgrade[]): void {
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (!takers.some((take) => take(request, socket, head))) answerUpgrade(socket, 404)
  })
}

const PHRASES: { readonly [status: number]: string } = {
  400: 'Bad Request',
  401: 'Unauthorized',
  404: 'Not Found',
  429: 'Too Many Requests',
  503: 'Service Unavailable',
}

/** An ordinary answer on a connection that stays what it was, and ends with it. */
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
  socket.on('error', () => {})
  socket.end(`HTTP/1.1 ${status} ${PHRASES[status] ?? 'Error'}\r\n${lines.join('')}\r\n${body}`, () =>
    socket.destroy(),
  )
}

// Limits the connections of the listener. A connection is half open until its first request has arrived with all headers:
// until then nothing is known about its sender, so one address may have only few of them.

import type { IncomingMessage, Server } from 'node:http'
import type { Server as TlsServer } from 'node:https'
import type { Socket } from 'node:net'

export interface ConnectionLimits {
  readonly maxConnections: number
  readonly halfOpenPerAddress: number
  /** Whether the limit per address does not apply, as for proxies, which have the connections of many clients. */
  isExempt(address: string): boolean
  /** Called for each connection that is refused. */
  onRefused(address: string): void
}

/**
 * Connections that wait until the process accepts them. With Node's default of 511 a burst of connections fills the queue, and
 * the kernel drops the connections of every client, which try again only after one second and then three. Linux uses at most
 * `net.core.somaxconn`, by default 4096.
 */
const BACKLOG = 4_096

export const listenAt = ({ host, port }: { readonly host: string; readonly port: number }) => ({
  host,
  port,
  backlog: BACKLOG,
})

export function limitConnections(server: Server | TlsServer, limits: ConnectionLimits): void {
  server.maxConnections = limits.maxConnections
  server.on('drop', (dropped) => limits.onRefused(dropped?.remoteAddress ?? ''))
  const halfOpen = new Map<string, Set<string>>()
  const release = (socket: Socket): void => {
    const { remoteAddress: address = '', remotePort } = socket
    const own = halfOpen.get(address)
    own?.delete(`${remotePort}`)
    if (own?.size === 0) halfOpen.delete(address)
  }
  server.on('connection', (socket: Socket) => {
    const { remoteAddress: address = '', remotePort } = socket
    if (limits.isExempt(address)) return
    const own = halfOpen.get(address) ?? new Set<string>()
    if (own.size >= limits.halfOpenPerAddress) {
      limits.onRefused(address)
      socket.destroy()
      return
    }
    halfOpen.set(address, own.add(`${remotePort}`))
    // A closed socket has forgotten its address.
    socket.once('close', () => {
      own.delete(`${remotePort}`)
      if (own.size === 0 && halfOpen.get(address) === own) halfOpen.delete(address)
    })
  })
  // With TLS the request has another socket than the connection; address and port are the same.
  server.on('request', ({ socket }: IncomingMessage) => release(socket))
  server.on('upgrade', ({ socket }: IncomingMessage) => release(socket))
}

// A TCP relay to a port of this machine that counts the bytes of its connections in both directions.

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

interface RelayedBytes {
  /** From the clients to the port. */
  readonly sent: number
  readonly received: number
}

export interface CountingRelay {
  readonly port: number
  bytes(): RelayedBytes
  stop(): void
}

const HOST = '127.0.0.1'

export async function startCountingRelay(port: number): Promise<CountingRelay> {
  const counts = { sent: 0, received: 0 }
  const sockets = new Set<Socket>()
  const forward = (from: Socket, to: Socket, direction: keyof RelayedBytes): void => {
    sockets.add(from)
    from.setNoDelay(true)
    from.on('error', () => {})
    from.on('close', () => {
      sockets.delete(from)
      to.destroy()
    })
    from.on('data', (chunk) => {
      counts[direction] += chunk.length
      to.write(chunk)
    })
  }
  const server = createServer((client) => {
    const target = connect(port, HOST)
    forward(client, target, 'sent')
    forward(target, client, 'received')
  })
  server.listen(0, HOST)
  await once(server, 'listening')
  return {
    port: portOf(server.address()),
    bytes: () => ({ ...counts }),
    stop() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('the relay has no port')
  return address.port
}

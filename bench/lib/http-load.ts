// HTTP callers with one connection each, which send the next request when the previous one was answered. They use plain
// sockets, because the load generator shares two cores with the server and must be cheap.

import { connect, type Socket } from 'node:net'

export interface HttpLoad {
  /** Sends one POST request on a free connection and resolves with the response status. */
  post(token: string, body: string): Promise<number>
  close(): void
}

interface Connection {
  readonly socket: Socket
  received: string
  answered: (status: number) => void
}

export async function openHttpLoad(port: number, connections: number): Promise<HttpLoad> {
  const free = await Promise.all(Array.from({ length: connections }, () => openConnection(port)))
  const all = [...free]
  return {
    post(token, body) {
      const connection = free.pop()
      if (connection === undefined) throw new Error('more requests at once than connections')
      return new Promise((resolve) => {
        connection.answered = (status) => {
          free.push(connection)
          resolve(status)
        }
        connection.socket.write(requestText(port, token, body))
      })
    },
    close() {
      for (const { socket } of all) socket.destroy()
    },
  }
}

function requestText(port: number, token: string, body: string): string {
  return `POST /api/v1/deployments HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

function openConnection(port: number): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    const connection: Connection = { socket, received: '', answered: () => {} }
    socket.setEncoding('latin1')
    socket.once('connect', () => resolve(connection))
    socket.once('error', reject)
    socket.on('data', (chunk) => receive(connection, String(chunk)))
  })
}

const LENGTH = /content-length: (\d+)/i

function receive(connection: Connection, chunk: string): void {
  connection.received += chunk
  const end = connection.received.indexOf('\r\n\r\n')
  if (end < 0) return
  const length = Number(LENGTH.exec(connection.received)?.[1] ?? 0)
  if (connection.received.length < end + 4 + length) return
  const status = Number(connection.received.slice(9, 12))
  connection.received = ''
  connection.answered(status)
}

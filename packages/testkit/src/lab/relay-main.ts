// The relay program: node relay-main.ts HOST PORT... forwards each connection to HOST:PORT to the same port of loopback.

import { connect, createServer, type Socket } from 'node:net'
import { argv } from 'node:process'

const [, , host = '', ...ports] = argv
const CONNECT_MS = 5_000

for (const port of ports.map(Number))
  createServer({ allowHalfOpen: true, noDelay: true }, (client) => forward(client, port)).listen(port, host)

function forward(client: Socket, port: number): void {
  const engine = connect({ host: '127.0.0.1', port, allowHalfOpen: true, noDelay: true })
  const deadline = setTimeout(() => engine.destroy(), CONNECT_MS)
  engine.once('connect', () => clearTimeout(deadline))
  for (const [from, to] of [
    [client, engine],
    [engine, client],
  ] as const) {
    from.on('error', () => to.destroy())
    from.on('close', () => to.destroy())
    from.pipe(to)
  }
}

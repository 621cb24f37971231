// A load balancer in front of the servers, for agents: it ends TLS and connects to the servers in turn. A server that
// does not accept the connection is passed over, so an agent whose server stops reaches the other one.

import { connect, type Socket } from 'node:net'
import { createServer } from 'node:tls'

export interface Balancer {
  readonly url: string
  stop(): Promise<void>
}

export interface BalancerOptions {
  readonly host: string
  readonly cert: string
  readonly key: string
  /** Ports of the servers on this machine. */
  readonly ports: readonly number[]
  /** The result of the balancer's check of /readyz; absent: it checks nothing. */
  isReady?(port: number): boolean
}

export async function startBalancer(options: BalancerOptions): Promise<Balancer> {
  const { host, cert, key, ports, isReady = () => true } = options
  const open = new Set<Socket>()
  let turn = 0
  const keep = (socket: Socket): void => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  }
  const listener = createServer({ cert, key }, (client) => {
    keep(client)
    client.on('error', () => {})
    turn += 1
    const order = ports.map((_, at) => ports[(turn + at) % ports.length] ?? 0)
    void connectFirst(order.filter(isReady)).then((server) => {
      if (server === undefined || client.destroyed) return void client.destroy()
      keep(server)
      join(client, server)
    })
  })
  listener.on('tlsClientError', () => {})
  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject)
    listener.listen(0, host, resolve)
  })
  const address = listener.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return {
    url: `https://${host}:${port}`,
    stop: () =>
      new Promise((resolve) => {
        listener.close(() => resolve())
        for (const socket of open) socket.destroy()
      }),
  }
}

async function connectFirst(ports: readonly number[]): Promise<Socket | undefined> {
  for (const port of ports) {
    const socket = await connectTo(port)
    if (socket !== undefined) return socket
  }
  return undefined
}

function connectTo(port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true })
    socket.once('connect', () => resolve(socket))
    socket.on('error', () => resolve(undefined))
  })
}

function join(one: Socket, other: Socket): void {
  one.pipe(other)
  other.pipe(one)
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const)
    from.once('close', () => to.destroy())
}

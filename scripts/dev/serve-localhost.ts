// Makes the server of the development platform reachable at localhost. It listens at the address that its nodes reach, where
// browsers do not sign in: they send the cookie of the dashboard only over https or to localhost.

import { connect, createServer, type Socket } from 'node:net'

const LOOPBACK = '127.0.0.1'

/** Returns the address of the dashboard. The forwarding ends with this process. */
export async function serveLocalhost(baseUrl: string): Promise<string> {
  const { hostname, port } = new URL(baseUrl)
  if (hostname !== LOOPBACK) await forward(Number(port), hostname)
  return `http://localhost:${port}/ui/`
}

async function forward(port: number, host: string): Promise<void> {
  const listener = createServer((client) => join(client, connect(port, host)))
  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject)
    listener.listen(port, LOOPBACK, resolve)
  })
  // The keeper decides when its process ends.
  listener.unref()
}

/** Passes bytes in both directions until either side ends or fails. */
function join(client: Socket, server: Socket): void {
  client.pipe(server).pipe(client)
  for (const [socket, other] of [
    [client, server],
    [server, client],
  ] as const)
    socket.on('error', () => other.destroy()).on('close', () => other.destroy())
}

// Finds a free loopback port below the kernel's range for outgoing connections. An outgoing connection could use a port
// of that range while a killed engine needs it again, and a client that dials such a port without a listener may connect
// to itself.

import { createServer } from 'node:net'

const LOWEST = 11_000
const HIGHEST = 32_000
const handedOut = new Set<number>()

/** Returns a port without a listener that this process has not returned before. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST))
    if (handedOut.has(port) || !(await canListen(port))) continue
    handedOut.add(port)
    return port
  }
  throw new Error(`No free port between ${LOWEST} and ${HIGHEST}.`)
}

export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = []
  while (ports.length < count) ports.push(await freePort())
  return ports
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

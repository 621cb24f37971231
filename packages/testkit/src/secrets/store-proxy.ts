// An HTTP proxy in front of the secrets store that records the path of every request, and delays or rejects selected
// requests.

import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface StoreProxy {
  readonly address: string
  /** Method and path of each request, in order of arrival. */
  readonly seen: string[]
  /** Number of requests whose path contains the text, from the start or from the request with index `from`. */
  count(part: string, from?: number): number
  /** Delays requests whose path contains the text. */
  delay(part: string, ms: number): void
  /** Answers requests whose path contains the text with 403, without forwarding them. */
  forbid(part: string): void
  calm(): void
  stop(): Promise<void>
}

export async function startStoreProxy(target: string): Promise<StoreProxy> {
  const seen: string[] = []
  const forbidden = new Set<string>()
  const delays = new Map<string, number>()
  const timers = new Set<NodeJS.Timeout>()
  const server = createServer((incoming, outgoing) => {
    const path = incoming.url ?? ''
    // Each connection serves one request: a client retries a read on a dead kept connection, which would look like two
    // reads.
    outgoing.setHeader('connection', 'close')
    seen.push(`${incoming.method} ${path}`)
    if ([...forbidden].some((part) => path.includes(part))) return forbid(outgoing)
    const ms = Math.max(0, ...[...delays].flatMap(([part, each]) => (path.includes(part) ? [each] : [])))
    if (ms === 0) pass(target, incoming, outgoing)
    else timers.add(setTimeout(() => pass(target, incoming, outgoing), ms))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    address: `http://127.0.0.1:${port}`,
    seen,
    count: (part, from = 0) => seen.slice(from).filter((line) => line.includes(part)).length,
    delay: (part, ms) => void delays.set(part, ms),
    forbid: (part) => void forbidden.add(part),
    calm() {
      delays.clear()
      forbidden.clear()
    },
    async stop() {
      for (const timer of timers) clearTimeout(timer)
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Answers as the secrets store does for a token without permission. */
function forbid(outgoing: ServerResponse): void {
  outgoing.writeHead(403, { 'content-type': 'application/json' })
  outgoing.end(JSON.stringify({ errors: ['permission denied'] }))
}

function pass(target: string, incoming: IncomingMessage, outgoing: ServerResponse): void {
  if (outgoing.destroyed) return
  const { method, headers } = incoming
  const onward = request(new URL(incoming.url ?? '/', target), { ...(method && { method }), headers })
  onward.on('response', (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, { ...answer.headers, connection: 'close' })
    answer.pipe(outgoing)
  })
  onward.on('error', () => outgoing.destroy())
  incoming.pipe(onward)
}

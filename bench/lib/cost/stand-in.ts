// A stand-in for the secrets store and the registry: answers every request at once with what the hot paths need. It runs in
// the process of the benchmark, so its CPU time is not charged to the measured process.

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

export interface StandIn {
  readonly port: number
  /** Reference of the image that the registry has. */
  readonly image: string
  close(): void
}

const MANIFEST = JSON.stringify({ schemaVersion: 2, layers: [] })
const DIGEST = `sha256:${createHash('sha256').update(MANIFEST).digest('hex')}`
const SECRET = JSON.stringify({
  data: {
    data: { user: 'app', password: 'a password of the usual length' },
    metadata: { version: 1, created_time: '2026-01-01T00:00:00.000Z' },
  },
  auth: { client_token: 'bench', lease_duration: 86_400, renewable: true },
})

export async function startStandIn(): Promise<StandIn> {
  const server = createServer(answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    port,
    image: `127.0.0.1:${port}/bench/app@${DIGEST}`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  request.resume()
  const isManifest = request.url?.startsWith('/v2/') === true
  const body = isManifest ? MANIFEST : SECRET
  const type = isManifest ? 'application/vnd.oci.image.manifest.v1+json' : 'application/json'
  response.writeHead(200, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    ...(isManifest ? { 'docker-content-digest': DIGEST } : {}),
  })
  response.end(request.method === 'HEAD' ? undefined : body)
}

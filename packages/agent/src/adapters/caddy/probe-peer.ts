// Asks the router of another node whether it accepts this node's certificate, with the same check of that router's own
// certificate as Caddy makes.

import { X509Certificate } from 'node:crypto'
import { request } from 'node:https'
import type { PeerRouter, RouterIdentity } from '../../ports/router.ts'

const PROBE_MS = 2000
const ADDRESS = /^(?:\[(?<v6>[^\]]+)\]|(?<host>[^:]+)):(?<port>\d+)$/

/** True after any answer to a request: a router that rejects the certificate ends the connection instead. */
export function probePeer(
  { address = '', name, certificates }: PeerRouter,
  { key, certificate }: RouterIdentity,
): Promise<boolean> {
  const { v6, host, port } = ADDRESS.exec(address)?.groups ?? {}
  const target = { host: v6 ?? host, port, path: '/', headers: { host: name }, agent: false as const }
  const ca = certificates.map((one) => new X509Certificate(Buffer.from(one, 'base64')).toString())
  const trust = { ca, key, cert: certificate, servername: name, minVersion: 'TLSv1.3' as const }
  const signal = AbortSignal.timeout(PROBE_MS)
  return new Promise((resolve) => {
    const call = request({ ...target, ...trust, signal }, (answer) => {
      answer.resume()
      resolve(true)
    })
    call.on('error', () => resolve(false))
    call.end()
  })
}

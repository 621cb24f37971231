// The parts of Caddy's configuration for mutual TLS between the routers of a tenant's nodes. Both sides accept exactly the
// certificates that the server sent; no authority is trusted. See docs/design/routing.md#peer-forwarding

import { createHash, X509Certificate } from 'node:crypto'
import { dirname, join } from 'node:path'
import type { PeerSecurity, RouterIdentity } from '../../ports/router.ts'
import type { CaddySettings } from '../../ports/router-settings.ts'

const TAG = 'peer'
const PEER_NAME = '{holdfast.peer_name}'
/** No certificate has this name, so an upstream without a known certificate is never accepted. */
const NO_NAME = 'unknown.invalid'
const SAME_HOST = { request: { set: { Host: ['{http.request.hostport}'] } } }

/** The file with the router's key and certificate, in Caddy's own folder. Another certificate has another file. */
export function peerKeyFile(upstreamsFolder: string, { certificate }: RouterIdentity): string {
  const hash = createHash('sha256').update(certificate).digest('hex')
  return join(peerKeyFolder(upstreamsFolder), `${hash.slice(0, 32)}.pem`)
}
export const peerKeyFolder = (upstreamsFolder: string): string => join(dirname(upstreamsFolder), 'peer-keys')

const pinsOf = ({ peers }: PeerSecurity): string[] => [
  ...new Set(peers.flatMap(({ certificates }) => certificates)),
]

/**
 * The listener for other nodes; undefined without a known certificate: Caddy would accept any client certificate if the
 * list were empty. The certificate of a client is compared as a whole, for resumed connections too.
 */
export function peerListener({ securePeerListen }: CaddySettings, security: PeerSecurity | undefined) {
  const pins = security === undefined ? [] : pinsOf(security)
  if (securePeerListen === undefined || pins.length === 0) return undefined
  const certificates = pins.map((pin) => new X509Certificate(Buffer.from(pin, 'base64')).toString())
  const loader = { loader: 'pem', certificates }
  const verifiers = [{ verifier: 'leaf', leaf_certs_loaders: [loader] }]
  return {
    listen: [securePeerListen],
    protocols: ['h1'],
    automatic_https: { disable: true },
    // The name in the handshake is the router's, the host of the request is the client's.
    strict_sni_host: false,
    tls_connection_policies: [
      {
        certificate_selection: { any_tag: [TAG] },
        protocol_min: 'tls1.3',
        alpn: ['http/1.1'],
        client_authentication: { mode: 'require', verifiers },
      },
    ],
  }
}

/** The key and certificate of this node's router; undefined without mutual TLS. */
export function peerCertificates(settings: CaddySettings, security: PeerSecurity | undefined) {
  if (security === undefined || settings.securePeerListen === undefined) return undefined
  const file = peerKeyFile(settings.upstreamsFolder, security.identity)
  return { load_files: [{ certificate: file, key: file, tags: [TAG] }] }
}

/**
 * The transport to other nodes, with a new connection for each request as by plain HTTP; undefined if no peer is known.
 * Caddy would replace the host of the request by the address of a TLS upstream.
 */
export function safeTransport(upstreamsFolder: string, security: PeerSecurity) {
  const pins = pinsOf(security)
  if (pins.length === 0) return undefined
  const file = peerKeyFile(upstreamsFolder, security.identity)
  return {
    protocol: 'http',
    dial_timeout: '1s',
    keep_alive: { enabled: false },
    versions: ['1.1'],
    tls: {
      client_certificate_file: file,
      client_certificate_key_file: file,
      server_name: PEER_NAME,
      ca: { provider: 'inline', trusted_ca_certs: pins },
      handshake_timeout: '5s',
    },
    headers: { headers: SAME_HOST },
  }
}

/** Finds the name that the certificate of the chosen upstream must have. Caddy evaluates it when it connects. */
export const nameUpstream = ({ peers }: PeerSecurity) => ({
  handler: 'map',
  source: '{http.reverse_proxy.upstream.hostport}',
  destinations: [PEER_NAME],
  mappings: peers.flatMap(({ address, name }) =>
    address === undefined ? [] : [{ input: address, outputs: [name] }],
  ),
  defaults: [NO_NAME],
})

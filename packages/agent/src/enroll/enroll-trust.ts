// Determines which certificate authority the node trusts: the given file, or the certificate in the server's chain that
// the join command pins. The join token is sent only over a connection verified against that authority.

import { hash, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { type ConnectionOptions, connect, type DetailedPeerCertificate, type TLSSocket } from 'node:tls'
import { explainNoAnswer, explainPinMismatch, type PresentedCertificate } from './explain-enrollment.ts'

const HANDSHAKE_MS = 10_000

/** Result of fetching the pinned certificate. `fault`: an explanation for the operator. */
export type Pinned = { readonly pem: string } | { readonly fault: string }

/**
 * Fetches the pinned certificate from the chain that the server presents. An attacker could present the same chain, so
 * the caller must still verify a connection that trusts only the pinned certificate.
 */
export async function fetchPinned(server: string, pin: string): Promise<Pinned> {
  const url = new URL(server)
  if (url.protocol !== 'https:')
    return { fault: `--ca-pin needs a server address that begins with https://; received: ${server}` }
  try {
    const chain = await fetchChain(url)
    const found = chain.find(({ raw }) => pinOf(raw) === pin.toLowerCase())
    return found === undefined
      ? { fault: explainPinMismatch(url.host, pin, chain.map(presented)) }
      : { pem: new X509Certificate(found.raw).toString() }
  } catch (error) {
    return { fault: explainNoAnswer(server, error) }
  }
}

const pinOf = (der: Buffer): string => `sha256:${hash('sha256', der, 'hex')}`
const presented = ({ raw }: DetailedPeerCertificate): PresentedCertificate => ({
  subject: new X509Certificate(raw).subject,
  pin: pinOf(raw),
})

/** Fetches the server's certificate chain without verifying it. The connection is closed before any data is sent. */
async function fetchChain(url: URL): Promise<DetailedPeerCertificate[]> {
  const socket = await handshake(url, { rejectUnauthorized: false })
  const chain: DetailedPeerCertificate[] = []
  // The loop ends at the last certificate of the chain, which is its own issuer or has no issuer.
  for (
    let one = socket.getPeerCertificate(true);
    one?.raw && !chain.includes(one);
    one = one.issuerCertificate
  )
    chain.push(one)
  socket.destroy()
  return chain
}

/**
 * Opens a TLS connection; resolves only if the server's certificate is valid. Without `ca`, the machine's own authorities
 * are trusted.
 */
export function connectTrusted(url: URL, ca: string | undefined): Promise<TLSSocket> {
  return handshake(url, ca === undefined ? {} : trustOnly(ca))
}

/** TLS options that trust these certificates alone: roots, intermediate authorities, or the server's own certificate. */
export const trustOnly = (ca: string | readonly string[]) => ({
  ca: typeof ca === 'string' ? ca : [...ca],
  allowPartialTrustChain: true,
})

function handshake(url: URL, options: ConnectionOptions): Promise<TLSSocket> {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const name = isIP(host) === 0 ? { servername: host } : {}
  return new Promise((resolve, reject) => {
    const socket = connect({ ...options, ...name, host, port: Number(url.port || 443) })
    socket.setTimeout(HANDSHAKE_MS, () => socket.destroy(new Error('no answer in time')))
    socket.once('error', reject)
    socket.once('secureConnect', () => {
      socket.setTimeout(0)
      socket.off('error', reject)
      resolve(socket)
    })
  })
}

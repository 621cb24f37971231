// Which authority does this node trust from now on? The one in the file that it was given, or the certificate of the server's
// chain that the join command pins. The token is not sent before the server has proved itself by it. SAFETY 2 row 12.

import { hash, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { type ConnectionOptions, connect, type DetailedPeerCertificate, type TLSSocket } from 'node:tls'
import { explainPin, explainSilence, type ShownCertificate } from './explain-enrollment.ts'

const HANDSHAKE_MS = 10_000

/** `fault`: what an operator can mend, in a sentence. */
export type Pinned = { readonly pem: string } | { readonly fault: string }

/**
 * The pinned certificate of the chain that the server shows. Whether the server really stands below it is judged by the
 * connection that is then made with nothing else trusted: anybody can show a certificate that is not his.
 */
export async function fetchPinned(server: string, pin: string): Promise<Pinned> {
  const url = new URL(server)
  if (url.protocol !== 'https:')
    return { fault: `--ca-pin is for a server whose address begins with https://; received: ${server}` }
  try {
    const chain = await showChain(url)
    const found = chain.find(({ raw }) => pinOf(raw) === pin.toLowerCase())
    return found === undefined
      ? { fault: explainPin(url.host, pin, chain.map(shown)) }
      : { pem: new X509Certificate(found.raw).toString() }
  } catch (error) {
    return { fault: explainSilence(server, error) }
  }
}

const pinOf = (der: Buffer): string => `sha256:${hash('sha256', der, 'hex')}`
const shown = ({ raw }: DetailedPeerCertificate): ShownCertificate => ({
  subject: new X509Certificate(raw).subject,
  pin: pinOf(raw),
})

/** As the handshake shows it, trusted or not; nothing is sent on this connection. */
async function showChain(url: URL): Promise<DetailedPeerCertificate[]> {
  const socket = await shakeHands(url, { rejectUnauthorized: false })
  const chain: DetailedPeerCertificate[] = []
  // The issuer of the last one is that one itself, or nothing.
  for (
    let one = socket.getPeerCertificate(true);
    one?.raw && !chain.includes(one);
    one = one.issuerCertificate
  )
    chain.push(one)
  socket.destroy()
  return chain
}

/** Verified to the end: only then is there a connection on which a token may go. `ca`: absent, those of the machine. */
export function connectTrusted(url: URL, ca: string | undefined): Promise<TLSSocket> {
  return shakeHands(url, ca === undefined ? {} : trustOnly(ca))
}

/** The authority may also be one that another one signed, or the server's own certificate: it is trusted as it is. */
export const trustOnly = (ca: string) => ({ ca, allowPartialTrustChain: true })

function shakeHands(url: URL, options: ConnectionOptions): Promise<TLSSocket> {
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

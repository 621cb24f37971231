// The certificate with which the server's listener answers, and its replacement while connections are open.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { Server } from 'node:net'
import { createSecureContext, Server as TlsServer } from 'node:tls'
import { type CertificatePair, presentedChain } from './certificate-chain.ts'

/** Throws if the pair is unusable. */
export function tlsSettings(pair: CertificatePair) {
  requireUsablePair(pair)
  return { cert: presentedChain(pair), key: pair.key, minVersion: 'TLSv1.2' } as const
}

export interface ServedCertificate {
  /** Undefined for plain HTTP. */
  current(): CertificatePair | undefined
  /** Serves another pair; throws if it is unusable, and the previous one stays. */
  replace(server: Server, pair: CertificatePair): void
}

export function serveCertificate(first: CertificatePair | undefined): ServedCertificate {
  let pair = first
  return {
    current: () => pair,
    replace(server, next) {
      replaceCertificate(server, next)
      pair = next
    },
  }
}

/**
 * Answers new connections with another certificate; open connections are not affected. Throws if the pair is unusable,
 * before anything has changed.
 */
export function replaceCertificate(server: Server, pair: CertificatePair): void {
  if (!(server instanceof TlsServer)) throw new TypeError('the listener speaks plain HTTP')
  const settings = tlsSettings(pair)
  createSecureContext(settings)
  server.setSecureContext(settings)
}

/** Throws unless the key belongs to the certificate. A TLS context accepts an empty key, and no handshake then succeeds. */
function requireUsablePair({ cert, key }: CertificatePair): void {
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
    throw new Error('the key does not belong to the certificate')
}

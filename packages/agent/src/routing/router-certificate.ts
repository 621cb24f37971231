// The certificate of a node's router: self-signed over a P-256 key, with a name derived from that key. Other routers pin
// the certificate, so it has no issuer to trust, and the name keeps one router from answering for another. See
// docs/design/routing.md#peer-forwarding

import { createHash, createPublicKey, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto'
import { certificatePem, commonName, element, oid, sequence, TAG } from '../peer/der.ts'

const OID = {
  ecdsaWithSha256: '2a8648ce3d040302',
  alternativeName: '551d11',
  basicConstraints: '551d13',
} as const
const DOMAIN = 'router.holdfast.internal'
const NAME_CHARACTERS = 32
const LAST_UTC_YEAR = 2049
/** The start of every certificate. It is early, so that a peer whose clock is behind accepts the certificate. */
const STARTS_MS = Date.UTC(2020, 0, 1)

/** A time as RFC 5280 demands: two digits of the year until 2049, four afterwards. */
function timeElement(ms: number): Buffer {
  const text = `${new Date(ms).toISOString().slice(0, 19).replaceAll(/[-T:]/g, '')}Z`
  const isUtc = new Date(ms).getUTCFullYear() <= LAST_UTC_YEAR
  return element(isUtc ? TAG.utcTime : TAG.time, Buffer.from(isUtc ? text.slice(2) : text))
}

/** The name of a router, which depends on its key alone. */
function nameOf(publicKey: KeyObject): string {
  const hash = createHash('sha256').update(publicKey.export({ type: 'spki', format: 'der' }))
  return `${hash.digest('hex').slice(0, NAME_CHARACTERS)}.${DOMAIN}`
}

/** Creates a certificate over the key, as base64 of DER. */
export function makeRouterCertificate(key: KeyObject, endsMs: number): string {
  const publicKey = createPublicKey(key)
  const name = nameOf(publicKey)
  const algorithm = sequence(oid(OID.ecdsaWithSha256))
  const subject = commonName(name)
  const alternative = element(TAG.bytes, sequence(element(TAG.dnsName, Buffer.from(name))))
  const isCritical = element(TAG.boolean, Buffer.from([0xff]))
  const extensions = sequence(
    sequence(oid(OID.basicConstraints), isCritical, element(TAG.bytes, sequence())),
    sequence(oid(OID.alternativeName), alternative),
  )
  const body = sequence(
    element(TAG.version, element(TAG.integer, Buffer.from([2]))),
    element(TAG.integer, Buffer.from([1]), randomBytes(15)),
    algorithm,
    subject,
    sequence(timeElement(STARTS_MS), timeElement(endsMs)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    element(TAG.extensions, extensions),
  )
  const signature = element(TAG.bits, Buffer.from([0]), sign('sha256', body, key))
  return sequence(body, algorithm, signature).toString('base64')
}

export interface RouterCertificate {
  readonly name: string
  readonly endsMs: number
  readonly pem: string
}

/**
 * Reads a certificate of a router; undefined if it is none. Its only name must be the one of its key, because a certificate
 * with the name of another router could answer for that router.
 */
export function readRouterCertificate(base64: string): RouterCertificate | undefined {
  try {
    const bytes = Buffer.from(base64, 'base64')
    const { raw, publicKey, subjectAltName, ca, validTo } = new X509Certificate(bytes)
    const name = nameOf(publicKey)
    if (!raw.equals(bytes) || ca || subjectAltName !== `DNS:${name}`) return undefined
    return { name, endsMs: Date.parse(validTo), pem: certificatePem(raw) }
  } catch {
    return undefined
  }
}

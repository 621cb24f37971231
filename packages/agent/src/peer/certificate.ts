// A self-signed certificate over the node's Ed25519 key, which TLS needs as an envelope. Peers compare the key and nothing
// else, so name and validity carry no meaning. See docs/design/storage.md#copies-on-other-nodes

import { createPublicKey, type KeyObject, sign, type X509Certificate } from 'node:crypto'

export interface TlsIdentity {
  /** PEM of the node's private key; it stays in memory. */
  readonly key: string
  readonly cert: string
}

const TAG = {
  integer: 0x02,
  bits: 0x03,
  oid: 0x06,
  text: 0x0c,
  sequence: 0x30,
  set: 0x31,
  time: 0x18,
  version: 0xa0,
}
const ED25519 = Buffer.from('2b6570', 'hex')
const COMMON_NAME = Buffer.from('550403', 'hex')
const LINE = /.{1,64}/g

/** One DER element: tag, length and content. */
function element(tag: number, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content)
  if (body.length >= 0x1_0000) throw new RangeError('The certificate is too long.')
  const short = body.length < 0x80
  const length = short ? [body.length] : [0x82, body.length >> 8, body.length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...length]), body])
}

export function selfSignedIdentity(identityKey: KeyObject): TlsIdentity {
  const algorithm = element(TAG.sequence, element(TAG.oid, ED25519))
  const name = element(
    TAG.sequence,
    element(
      TAG.set,
      element(TAG.sequence, element(TAG.oid, COMMON_NAME), element(TAG.text, Buffer.from('holdfast-node'))),
    ),
  )
  const validity = ['19700101000000Z', '99991231235959Z'].map((time) => element(TAG.time, Buffer.from(time)))
  const body = element(
    TAG.sequence,
    element(TAG.version, element(TAG.integer, Buffer.from([2]))),
    element(TAG.integer, Buffer.from([1])),
    algorithm,
    name,
    element(TAG.sequence, ...validity),
    name,
    createPublicKey(identityKey).export({ type: 'spki', format: 'der' }),
  )
  const signature = element(TAG.bits, Buffer.from([0]), sign(null, body, identityKey))
  const lines = element(TAG.sequence, body, algorithm, signature).toString('base64').match(LINE) ?? []
  return {
    key: identityKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
  }
}

/** The raw Ed25519 key of a certificate in base64url; undefined if the certificate has another kind of key. */
export function keyOfCertificate(certificate: X509Certificate | undefined): string | undefined {
  if (certificate?.publicKey.asymmetricKeyType !== 'ed25519') return undefined
  return certificate.publicKey.export({ format: 'jwk' }).x
}

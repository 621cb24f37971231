// A self-signed certificate over the node's Ed25519 key, which TLS needs as an envelope. Peers compare the key and nothing
// else, so name and validity carry no meaning. See docs/design/storage.md#copies-on-other-nodes

import { createPublicKey, type KeyObject, sign, type X509Certificate } from 'node:crypto'
import { certificatePem, commonName, element, oid, sequence, TAG } from './der.ts'

export interface TlsIdentity {
  /** PEM of the node's private key; it stays in memory. */
  readonly key: string
  readonly cert: string
}

const ED25519 = '2b6570'
const NAME = 'holdfast-node'
const ALWAYS = ['19700101000000Z', '99991231235959Z']

export function selfSignedIdentity(identityKey: KeyObject): TlsIdentity {
  const algorithm = sequence(oid(ED25519))
  const name = commonName(NAME)
  const body = sequence(
    element(TAG.version, element(TAG.integer, Buffer.from([2]))),
    element(TAG.integer, Buffer.from([1])),
    algorithm,
    name,
    sequence(...ALWAYS.map((time) => element(TAG.time, Buffer.from(time)))),
    name,
    createPublicKey(identityKey).export({ type: 'spki', format: 'der' }),
  )
  const signature = element(TAG.bits, Buffer.from([0]), sign(null, body, identityKey))
  return {
    key: identityKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: certificatePem(sequence(body, algorithm, signature)),
  }
}

/** The raw Ed25519 key of a certificate in base64url; undefined if the certificate has another kind of key. */
export function keyOfCertificate(certificate: X509Certificate | undefined): string | undefined {
  if (certificate?.publicKey.asymmetricKeyType !== 'ed25519') return undefined
  return certificate.publicKey.export({ format: 'jwk' }).x
}

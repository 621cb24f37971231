// Decrypts values that the server sealed to this node's X25519 key; no relay between server and node can read the values.
//
//   base64url( the sender's ephemeral public key 32 | nonce 12 | ciphertext | tag 16 )
//   key = HKDF-SHA256(X25519 secret, no salt, 'holdfast-sealed-v1', 32 bytes); cipher = AES-256-GCM

import { createDecipheriv, createPublicKey, diffieHellman, hkdfSync, type KeyObject } from 'node:crypto'

const INFO = 'holdfast-sealed-v1'
const PUBLIC_KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Decrypts a sealed text. Throws if it was not sealed to this key or was changed. */
export function openSealed(encryptionKey: KeyObject, sealed: string): Buffer {
  const bytes = Buffer.from(sealed, 'base64url')
  if (bytes.length < PUBLIC_KEY_BYTES + NONCE_BYTES + TAG_BYTES)
    throw new Error('A sealed value is too short.')
  const nonceEnd = PUBLIC_KEY_BYTES + NONCE_BYTES
  const key = openingKey(encryptionKey, bytes.subarray(0, PUBLIC_KEY_BYTES))
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(PUBLIC_KEY_BYTES, nonceEnd))
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  return Buffer.concat([decipher.update(bytes.subarray(nonceEnd, -TAG_BYTES)), decipher.final()])
}

function openingKey(privateKey: KeyObject, ephemeral: Buffer): Buffer {
  const publicKey = createPublicKey({
    key: { kty: 'OKP', crv: 'X25519', x: ephemeral.toString('base64url') },
    format: 'jwk',
  })
  const shared = diffieHellman({ privateKey, publicKey })
  return Buffer.from(hkdfSync('sha256', shared, '', INFO, 32))
}

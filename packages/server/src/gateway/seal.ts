// What only one node may read, sealed to its X25519 key; gateway and network only relay it. DECISIONS 8.
//
//   base64url( ephemeral public key 32 | nonce 12 | ciphertext | tag 16 )
//   key = HKDF-SHA256(X25519 secret, no salt, 'holdfast-sealed-v1', 32 bytes); cipher = AES-256-GCM

import {
  createCipheriv,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'

const INFO = 'holdfast-sealed-v1'
const NONCE_BYTES = 12

/** `encryptionKey` is the base64url of the node's raw public key, as its record keeps it. */
export function seal(encryptionKey: string, plaintext: string): string {
  const recipient = createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x: encryptionKey }, format: 'jwk' })
  const ephemeral = generateKeyPairSync('x25519')
  const shared = diffieHellman({ privateKey: ephemeral.privateKey, publicKey: recipient })
  const key = Buffer.from(hkdfSync('sha256', shared, '', INFO, 32))
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  const sealed = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()])
  return Buffer.concat([rawPublic(ephemeral.publicKey), nonce, sealed, cipher.getAuthTag()]).toString(
    'base64url',
  )
}

function rawPublic(key: KeyObject): Buffer {
  return Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url')
}

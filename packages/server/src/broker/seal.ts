// Encrypts a text to the X25519 key of one node. The gateway and the network relay the text but cannot read it.
//
//   base64url( ephemeral public key 32 | nonce 12 | ciphertext | tag 16 )
//   key = HKDF-SHA256(X25519 secret, no salt, 'holdfast-sealed-v1', 32 bytes); cipher = AES-256-GCM

import {
  createCipheriv,
  createPublicKey,
  createSecretKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import { createBoundedMap } from '../lib/bounded-map.ts'

const INFO = 'holdfast-sealed-v1'
const NONCE_BYTES = 12

export const seal = (encryptionKey: string, plaintext: string): string =>
  prepareSeal(encryptionKey)(plaintext)

/**
 * Does the expensive key agreement, which can run while the text is not yet known. The returned function may seal one
 * text only, because the key must not be reused. `encryptionKey` is the node's raw public key in base64url.
 */
export function prepareSeal(encryptionKey: string): (plaintext: string) => string {
  const recipient = publicKeyOf(encryptionKey)
  const ephemeral = generateKeyPairSync('x25519')
  // Keys are passed to node:crypto as KeyObjects: for other types it throws and catches an error internally each time.
  const shared = createSecretKey(diffieHellman({ privateKey: ephemeral.privateKey, publicKey: recipient }))
  const key = createSecretKey(Buffer.from(hkdfSync('sha256', shared, '', INFO, 32)))
  const head = rawPublic(ephemeral.publicKey)
  return (plaintext) => {
    // The nonce is random, so that a nonce is not reused even if a caller seals two texts.
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', key, nonce)
    const sealed = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()])
    return Buffer.concat([head, nonce, sealed, cipher.getAuthTag()]).toString('base64url')
  }
}

/** Parsed public keys of recently used nodes. */
const publicKeys = createBoundedMap<string, KeyObject>(1_000)

function publicKeyOf(x: string): KeyObject {
  const known = publicKeys.get(x)
  if (known !== undefined) return known
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x }, format: 'jwk' })
  publicKeys.set(x, publicKey)
  return publicKey
}

function rawPublic(key: KeyObject): Buffer {
  return Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url')
}

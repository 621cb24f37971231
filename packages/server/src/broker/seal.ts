// What only one node may read, sealed to its X25519 key; gateway and network only relay it. DECISIONS 8.
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
 * The costly half, for who has to wait for the text anyway. What it gives seals one text: the key is of that one alone.
 * `encryptionKey` is the base64url of the node's raw public key, as its record keeps it.
 */
export function prepareSeal(encryptionKey: string): (plaintext: string) => string {
  const recipient = publicKeyOf(encryptionKey)
  const ephemeral = generateKeyPairSync('x25519')
  // Key objects throughout: what is none costs node:crypto an error that it throws and catches each time.
  const shared = createSecretKey(diffieHellman({ privateKey: ephemeral.privateKey, publicKey: recipient }))
  const key = createSecretKey(Buffer.from(hkdfSync('sha256', shared, '', INFO, 32)))
  const head = rawPublic(ephemeral.publicKey)
  return (plaintext) => {
    // Another one for each text, whatever the caller does.
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', key, nonce)
    const sealed = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()])
    return Buffer.concat([head, nonce, sealed, cipher.getAuthTag()]).toString('base64url')
  }
}

/** Those of the nodes that were last sealed to. */
const publicKeys = createBoundedMap<string, KeyObject>(1_000)

function publicKeyOf(x: string): KeyObject {
  const known = publicKeys.get(x)
  if (known !== undefined) return known
  const made = createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x }, format: 'jwk' })
  publicKeys.set(x, made)
  return made
}

function rawPublic(key: KeyObject): Buffer {
  return Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url')
}

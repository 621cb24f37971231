// For tests: seals a text like the server does, in the format described in open-sealed.ts.

import { createCipheriv, createPublicKey, diffieHellman, generateKeyPairSync, hkdfSync } from 'node:crypto'
import { publicKeyText } from '../state/node-state.ts'

/** Seals a text. `recipient`: the node's public key as text. */
export function sealFor(recipient: string, text: string): string {
  const ephemeral = generateKeyPairSync('x25519')
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x: recipient }, format: 'jwk' })
  const shared = diffieHellman({ privateKey: ephemeral.privateKey, publicKey })
  const key = Buffer.from(hkdfSync('sha256', shared, '', 'holdfast-sealed-v1', 32))
  const nonce = Buffer.alloc(12, 7)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  const sealed = Buffer.concat([cipher.update(text), cipher.final()])
  const sender = Buffer.from(publicKeyText(ephemeral.privateKey), 'base64url')
  return Buffer.concat([sender, nonce, sealed, cipher.getAuthTag()]).toString('base64url')
}

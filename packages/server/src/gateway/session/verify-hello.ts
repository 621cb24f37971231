// Does the hello come from who holds the node's key, of the newest enrollment, now?

import { createPublicKey, generateKeyPairSync, type KeyObject, verify } from 'node:crypto'
import { type Hello, helloText } from '@holdfast/contract'
import type { StoredNode } from '../../store/records.ts'

/** Nobody has its private half: an unknown node takes as long to refuse as a wrong key. */
const NOBODY = generateKeyPairSync('ed25519').publicKey

export function isProven(node: StoredNode | undefined, hello: Hello, nonce: string): boolean {
  const text = helloText(nonce, hello.nodeId, hello.generation, hello.bootId)
  const signature = Buffer.from(hello.signature, 'base64url')
  const key = node === undefined ? NOBODY : publicKeyOf(node.publicKey)
  const signed = verify(null, Buffer.from(text), key, signature)
  return signed && node !== undefined && node.generation === hello.generation
}

function publicKeyOf(x: string): KeyObject {
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
}

// Verifies that a hello is signed with the key of the node's newest enrollment over this connection's nonce.

import { createPublicKey, generateKeyPairSync, type KeyObject, verify } from 'node:crypto'
import { type Hello, helloText } from '@holdfast/contract'
import type { StoredNode } from '../../store/records.ts'

/** A random key that no node has. It makes rejecting an unknown node take as long as rejecting a wrong key. */
const UNKNOWN_NODE_KEY = generateKeyPairSync('ed25519').publicKey

export function isProven(node: StoredNode | undefined, hello: Hello, nonce: string): boolean {
  const text = helloText(nonce, hello.nodeId, hello.generation, hello.bootId)
  const signature = Buffer.from(hello.signature, 'base64url')
  const key = node === undefined ? UNKNOWN_NODE_KEY : publicKeyOf(node.publicKey)
  const signed = verify(null, Buffer.from(text), key, signature)
  return signed && node !== undefined && node.generation === hello.generation
}

function publicKeyOf(x: string): KeyObject {
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
}

// Writes the list of hashes in the form of sha256sum, and signs it.

import { createHash, createPrivateKey, type KeyObject, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const checksumLines = (folder: string, files: readonly string[]): string =>
  files
    .toSorted()
    .map(
      (file) =>
        `${createHash('sha256')
          .update(readFileSync(join(folder, file)))
          .digest('hex')}  ${file}\n`,
    )
    .join('')

/** The signature of Ed25519 over a text, as `openssl pkeyutl -verify -rawin` reads it. */
export const signText = (text: string, key: KeyObject): Buffer => sign(null, Buffer.from(text), key)

export function readSigningKey(path: string): KeyObject {
  const key = createPrivateKey(readFileSync(path))
  if (key.asymmetricKeyType !== 'ed25519')
    throw new Error(
      `${path} is a key of ${key.asymmetricKeyType}; create one with: openssl genpkey -algorithm ed25519`,
    )
  return key
}

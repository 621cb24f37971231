// The list of hashes and its signature are what sha256sum and openssl read.

import { generateKeyPairSync, verify } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeTempFolder } from '@holdfast/testkit'
import { afterAll, expect, test } from 'vitest'
import { checksumLines, readSigningKey, signText } from '../../../scripts/package/checksums.ts'

const folder = makeTempFolder('checksums')
afterAll(() => folder.remove())
const at = (name: string): string => join(folder.path, name)

const { privateKey, publicKey } = generateKeyPairSync('ed25519')
writeFileSync(at('key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }))

test('lists the hash of each file in order', () => {
  writeFileSync(at('b'), '')
  writeFileSync(at('a'), 'abc')
  expect(checksumLines(folder.path, ['b', 'a'])).toBe(
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a\n' +
      'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  b\n',
  )
})

test('the signature is valid for this list and for no other', () => {
  const signature = signText('list\n', readSigningKey(at('key.pem')))
  expect(verify(null, Buffer.from('list\n'), publicKey, signature)).toBe(true)
  expect(verify(null, Buffer.from('other\n'), publicKey, signature)).toBe(false)
})

test('refuses a key of another kind, with the command that creates one', () => {
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  writeFileSync(at('ec.pem'), other.export({ type: 'pkcs8', format: 'pem' }))
  expect(() => readSigningKey(at('ec.pem'))).toThrow('openssl genpkey -algorithm ed25519')
})

// Where a peer cannot be, and which certificates TLS accepts from a node.

import { createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import { keyOfCertificate, selfSignedIdentity } from './certificate.ts'
import { isRefusedPeerIp, parsePeerAddress, resolvePeer } from './peer-address.ts'

test.each([
  ['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1', '0.0.0.0', '::', '255.255.255.255'],
  ['169.254.1.1', 'fe80::1', 'fe80::1%eth0', '::ffff:169.254.169.254', '224.0.0.1', 'ff02::1', '239.1.1.1'],
  ['169.254.169.254', 'fd00:ec2::254', '100.100.100.200', '168.63.129.16', '192.0.0.192', 'no address', ''],
])('refuses peers at %s, %s, %s, %s, %s, %s and %s', (...addresses) => {
  for (const address of addresses) expect(isRefusedPeerIp(address), address).toBe(true)
})

test.each([
  '10.0.0.1',
  '192.168.1.1',
  '172.16.0.1',
  '100.64.0.1',
  '203.0.113.7',
  '2001:db8::1',
  'fd00::1',
  '::ffff:10.0.0.1',
])('accepts a peer at %s', (address) => expect(isRefusedPeerIp(address)).toBe(false))

test('parses host and port, and refuses names that lead to this machine', async () => {
  expect(parsePeerAddress('n1.example:7844')).toEqual({ host: 'n1.example', port: 7844 })
  expect(parsePeerAddress('[2001:db8::1]:7844')).toEqual({ host: '2001:db8::1', port: 7844 })
  for (const text of ['n1', ':1', 'n1:0', 'n1:65536', 'http://n1:1', 'n1:1/x', '[::1', 'a b:1'])
    expect(parsePeerAddress(text), text).toBeUndefined()
  await expect(resolvePeer('localhost:7844', false)).rejects.toMatchObject({ fault: 'refused_address' })
  expect(await resolvePeer('localhost:7844', true)).toMatchObject({ port: 7844 })
})

test('signs a certificate over the key of the node', () => {
  const { privateKey } = generateKeyPairSync('ed25519')
  const certificate = new X509Certificate(selfSignedIdentity(privateKey).cert)
  expect(certificate.verify(createPublicKey(privateKey))).toBe(true)
  expect(certificate.validToDate.getUTCFullYear()).toBe(9999)
  expect(keyOfCertificate(certificate)).toBe(createPublicKey(privateKey).export({ format: 'jwk' }).x)
  expect(keyOfCertificate(undefined)).toBeUndefined()
})

// The command with which a machine joins: server URL, node name and certificate pin.

import { hash, X509Certificate } from 'node:crypto'
import { makeCertificates } from '@holdfast/testkit'
import { expect, test } from 'vitest'
import { caPinOf, joinCommand } from './join-token.ts'

test('pins the last certificate of the server chain', async () => {
  const made = await makeCertificates()
  const [ca, server, key] = ['ca.crt', 'server.crt', 'server.key'].map((name) => made.pem(name))
  made.remove()
  const pinOf = (pem = ''): string => `sha256:${hash('sha256', new X509Certificate(pem).raw, 'hex')}`
  expect(caPinOf(`${server}${ca}`)).toBe(pinOf(ca))
  // Some tools write a private key and comments into the certificate file; the pin depends only on the certificate.
  expect(caPinOf(`subject=x\n${server}\n${key}`)).toBe(pinOf(server))
  expect(() => caPinOf('')).toThrow('contains no certificate')
})

test('adds the pin to the join command where there is one', () => {
  const words = 'holdfast-agent enroll --server https://h'
  expect(joinCommand('https://h', 'n1', 't')).toBe(`${words} --token t --name n1`)
  expect(joinCommand('https://h', 'n1', 't', 'sha256:0')).toBe(
    `${words} --ca-pin sha256:0 --token t --name n1`,
  )
})

// Tests which forms of an etcd endpoint are accepted.

import { expect, test } from 'vitest'
import { parseAddress } from './channel.ts'

const tls = { ca: 'pem' }

test.each([
  ['http://etcd-1:2379', undefined, 'dns:etcd-1:2379', false],
  ['https://etcd-1:2379', tls, 'dns:etcd-1:2379', true],
  ['https://etcd-1:2379', undefined, 'dns:etcd-1:2379', true],
  ['10.0.0.1:2479', undefined, 'dns:10.0.0.1:2479', false],
  ['10.0.0.1:2479', tls, 'dns:10.0.0.1:2479', true],
  ['https://[::1]:2379', tls, 'dns:[::1]:2379', true],
  ['etcd-1', undefined, 'dns:etcd-1:2379', false],
])('opens a channel for %s', (endpoint, given, target, secure) => {
  expect(parseAddress(endpoint, given)).toEqual({ endpoint, target, secure })
})

test('rejects a plaintext endpoint with TLS settings', () => {
  expect(() => parseAddress('http://etcd-1:2379', tls)).toThrow('scheme is http')
})

test('rejects an unknown URL scheme', () => {
  expect(() => parseAddress('unix:///run/etcd', undefined)).toThrow('http or https')
})

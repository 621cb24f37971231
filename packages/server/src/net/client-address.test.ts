import { expect, test } from 'vitest'
import { createClientAddress, isAddressRange } from './client-address.ts'

const from = (remoteAddress: string, forwarded?: string) => ({
  headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
  socket: { remoteAddress },
})
const PROXIES = ['10.0.0.0/8', '192.0.2.7', '2001:db8::/32']

test.each([
  ['no proxy', from('203.0.113.5'), '203.0.113.5'],
  ['a client that invents a header', from('203.0.113.5', '1.1.1.1'), '203.0.113.5'],
  ['one proxy', from('10.1.2.3', '203.0.113.5'), '203.0.113.5'],
  ['a proxy, and a header that the client invented', from('10.1.2.3', '1.1.1.1, 203.0.113.5'), '203.0.113.5'],
  ['two proxies', from('10.1.2.3', '1.1.1.1, 203.0.113.5, 192.0.2.7'), '203.0.113.5'],
  ['only proxies', from('10.1.2.3', '10.9.9.9'), '10.9.9.9'],
  ['a proxy without header', from('10.1.2.3'), '10.1.2.3'],
  ['a header that names no address', from('10.1.2.3', '203.0.113.5, unknown'), '10.1.2.3'],
  ['an empty header', from('10.1.2.3', ''), '10.1.2.3'],
  ['a socket of both families', from('::ffff:10.1.2.3', '203.0.113.5'), '203.0.113.5'],
  ['a mapped client', from('10.1.2.3', '::ffff:203.0.113.5'), '203.0.113.5'],
  ['a port', from('10.1.2.3', '203.0.113.5:4711'), '203.0.113.5'],
  ['an IPv6 proxy and client', from('2001:db8::9', '[2001:4860::1]:443'), '2001:4860::1'],
  ['a closed socket', from(''), ''],
])('the address of a request through %s', (_what, request, expected) => {
  expect(createClientAddress(PROXIES)(request)).toBe(expected)
})

test('without trusted proxies the header is ignored', () => {
  expect(createClientAddress([])(from('10.1.2.3', '203.0.113.5'))).toBe('10.1.2.3')
})

test.each([
  ...['10.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8', '10.0.0.1/32'].map((text) => [text, true] as const),
  ...['', 'proxy.example', '10.0.0', '10.0.0.0/0', '::/0', '10.0.0.0/33', '10.0.0.0/', 'fd00::/129'].map(
    (text) => [text, false] as const,
  ),
])('%j is a range of addresses: %s', (text, expected) => {
  expect(isAddressRange(text)).toBe(expected)
})

// The limits of the listener, and the proxies in front of it.

import { expect, test } from 'vitest'
import { faultLines, load, MINIMAL } from './sample-config.fixture.ts'

const NEXT = MINIMAL.split('\n').length

test('the listener has limits by default and trusts no proxy', () => {
  const loaded = load(MINIMAL)
  expect(loaded.ok && loaded.config.listen).toEqual({
    host: '127.0.0.1',
    port: 8080,
    drainSeconds: 5,
    maxConnections: 20_000,
    halfOpenPerAddress: 512,
    headersSeconds: 10,
    requestSeconds: 30,
    trustedProxies: [],
  })
})

test('proxies are listed in the environment as addresses and ranges', () => {
  const loaded = load(MINIMAL, { env: { HOLDFAST_LISTEN_TRUSTED_PROXIES: '10.0.0.0/8,fd00::1' } })
  expect(loaded.ok && loaded.config.listen.trustedProxies).toEqual(['10.0.0.0/8', 'fd00::1'])
})

test.each([
  ['trustedProxies: [0.0.0.0/0]', `form listen.trustedProxies[0] @ hf.yaml:${NEXT}:28`],
  ['trustedProxies: [proxy.example]', `form listen.trustedProxies[0] @ hf.yaml:${NEXT}:28`],
  ['trustedProxies: [10.0.0.1, 10.0.0.1]', `duplicate listen.trustedProxies[1] @ hf.yaml:${NEXT}:38`],
  ['requestSeconds: 9', `conflict listen.requestSeconds @ hf.yaml:${NEXT}:27`],
  ['tls: { nextCa: /next }', `conflict listen.tls.nextCa @ hf.yaml:${NEXT}:26`],
  ['maxConnections: 9', `range listen.maxConnections @ hf.yaml:${NEXT}:27`],
])('listen rejects %s', (text, fault) => {
  expect(faultLines(load(`${MINIMAL}listen: { ${text} }\n`))).toEqual([fault])
})

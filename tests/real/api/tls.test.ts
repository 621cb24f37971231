// TLS: the server serves only clients that use TLS and trust the server's certificate authority.

import { request } from 'node:https'
import { type Certificates, makeCertificates } from '@holdfast/testkit'
import { createApiClient } from '@holdfast/testkit/platform/api-client'
import { sharedPlatform } from '@holdfast/testkit/platform/shared-platform'
import { type Platform, startReplica } from '@holdfast/testkit/platform/start-platform'
import { afterAll, beforeAll, expect, test } from 'vitest'

let certificates: Certificates
let platform: Platform

beforeAll(async () => {
  certificates = await makeCertificates()
  platform = await sharedPlatform()
})
afterAll(async () => {
  await platform.stop()
  certificates.remove()
})

function statusOver(port: string, ca?: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const outgoing = request({
      host: '127.0.0.1',
      port,
      path: '/healthz',
      ...(ca === undefined ? {} : { ca }),
    })
    outgoing.once('response', (response) => resolve(response.resume().statusCode ?? 0))
    outgoing.once('error', reject)
    outgoing.end()
  })
}

test('only clients that trust the authority are served', async () => {
  const tls = { cert: certificates.path('server.crt'), key: certificates.path('server.key') }
  const secure = await startReplica(platform, {}, { tls })
  const { port } = new URL(secure.baseUrl)
  try {
    expect(await statusOver(port, certificates.pem('ca.crt'))).toBe(200)
    await expect(statusOver(port)).rejects.toThrow(/certificate/)
    await expect(createApiClient(`http://127.0.0.1:${port}`, '').get('/healthz')).rejects.toThrow()
  } finally {
    await secure.stop()
  }
})

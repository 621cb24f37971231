// An image whose registry does not answer at admission, over HTTP: when the registry answers again, one event states the
// digest, or that the image is missing. tests/controllers/digest-fixed.test.ts covers repeated requests and fairness.

import { createRegistryClient } from '@holdfast/server/adapters/registry/registry-client'
import { createImageChecks } from '@holdfast/server/broker/check-images'
import { startDigestFixing } from '@holdfast/server/loops/fix-digests'
import { realClock as clock } from '@holdfast/server/system-clock'
import { type Registry, startRegistry } from '@holdfast/testkit'
import { startControllers } from '@holdfast/testkit/controllers/placing-world'
import type { ApiClient } from '@holdfast/testkit/platform/api-client'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'

/** Far shorter than in the product, where the first request follows half a minute after admission. */
const TIMES = { retryMs: 100, checkMs: 10 }

let registry: Registry
let platform: Platform
let api: ApiClient

beforeAll(async () => {
  registry = await startRegistry()
  platform = await ownPlatform({ registry })
  api = platform.api(platform.acme.token)
})
afterAll(async () => {
  await platform.stop()
  await registry.stop()
})

function fixDigests(): void {
  const { store } = platform.server
  const controllers = startControllers(store)
  const allowList = [{ host: registry.host, plainHttp: true, allowAddress: true }]
  const client = createRegistryClient({ allowList, deadlineMs: 5_000 })
  const secretsStore = { readVersion: async () => ({ kind: 'absent' as const }) }
  const broker = createImageChecks({ secretsStore, registry: client, nowMs: () => performance.now() })
  const { leadership } = controllers
  const fixing = startDigestFixing(
    { store, clock, leadership, broker, random: Math.random, onError: () => {} },
    TIMES,
  )
  onTestFinished(async () => {
    await fixing.stop()
    await controllers.stop()
    client.close()
  })
}

async function typesOf(name: string): Promise<string[]> {
  const { body } = await api.get(`/api/v1/events?subject=${name}`)
  const items: { type: string }[] = Object(body['items'])
  return items.map(({ type }) => type).filter((type) => type.startsWith('image.'))
}

test('after an outage of the registry, an event states the digest of an image, or that it is missing', async () => {
  const { reference } = await registry.pushSampleImage('shop/late', '1.0')
  registry.pause()
  for (const [name, image] of [
    ['there', reference],
    ['missing', `${registry.host}/shop/never:1.0`],
  ]) {
    const created = await api.post('/api/v1/deployments', { kind: 'Deployment', name, image })
    expect(created.body['warnings'], created.text).toMatchObject([{ code: 'registry_unreachable' }])
  }
  registry.resume()
  fixDigests()
  await expect.poll(() => typesOf('there')).toContain('image.digest_fixed')
  await expect.poll(() => typesOf('missing')).toContain('image.digest_missing')
})

// Hostile secret paths in deployments and secret writes over HTTP, with a recording proxy in front of the secrets store:
// no path outside the grammar or outside the tenant's own mount reaches the secrets store.

import { sharedSecretsStore } from '@holdfast/testkit'
import { provision } from '@holdfast/testkit/platform/set-up'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import { hostilePaths } from '@holdfast/testkit/secrets/hostile-paths'
import { type StoreProxy, startStoreProxy } from '@holdfast/testkit/secrets/store-proxy'
import { afterAll, beforeAll, expect, test } from 'vitest'

let proxy: StoreProxy
let platform: Platform
beforeAll(async () => {
  const { address, rootToken } = await sharedSecretsStore()
  proxy = await startStoreProxy(address)
  const identities = await provision(address, rootToken)
  platform = await ownPlatform({ settings: { secretsStore: { address: proxy.address, ...identities } } })
})
afterAll(async () => {
  await platform.stop()
  await proxy.stop()
})

const AT_ONCE = 16

async function inTurns<T>(all: readonly T[], work: (one: T, index: number) => Promise<void>): Promise<void> {
  const rows = all.entries()
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const [index, one] of rows) await work(one, index)
    }),
  )
}

/** The paths that reached the secrets store, without those of logins and new tokens. */
function reached(from: number): string[] {
  return proxy.seen.slice(from).filter((line) => !/^(?:POST|PUT) \/v1\/auth\//.test(line))
}

const grammar = (): RegExp =>
  new RegExp(
    `^[A-Z]+ /v1/kv-${platform.acme.id}/(?:data|metadata|destroy)/(?:deployments|resources)/[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\\?version=\\d+)?$`,
  )

test('hostile vault_path values of deployments never reach the secrets store', {
  timeout: 300_000,
}, async () => {
  const from = proxy.seen.length
  const api = platform.api(platform.acme.token)
  const statuses = new Map<number, number>()
  const hostile = hostilePaths()
  expect(hostile.length).toBeGreaterThan(10_000)
  await inTurns(hostile, async ({ namespace, label }, index) => {
    const secrets = [{ name: 'DB', vault_path: `${namespace}/${label}`, values: { key: 'value' } }]
    const { status } = await api.post('/api/v1/deployments', {
      kind: 'Deployment',
      name: `d-${index}`,
      image: platform.image,
      replicas: 0,
      secrets,
    })
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  })
  expect(reached(from).filter((line) => !grammar().test(line))).toEqual([])
  // The few valid paths do reach the secrets store, which proves that the proxy sees the requests.
  expect(reached(from).length).toBeGreaterThan(0)
  expect([...statuses.keys()].filter((status) => ![201, 409, 422].includes(status))).toEqual([])
  expect(statuses.get(422) ?? 0).toBeGreaterThan(10_000)
})

test('hostile paths of secret writes never reach the secrets store, in any encoding', {
  timeout: 300_000,
}, async () => {
  const from = proxy.seen.length
  const headers = { authorization: `Bearer ${platform.acme.token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ values: { key: 'value' } })
  const paths = hostilePaths().filter((_, index) => index % 5 === 0)
  await inTurns(paths, async ({ namespace, label }) => {
    for (const path of [
      `${encodeURIComponent(namespace)}/${encodeURIComponent(label)}`,
      `${namespace}/${label}`.replaceAll(/[\0\r\n#?]/g, '%23'),
    ]) {
      const { status } = await fetch(`${platform.baseUrl}/api/v1/secrets/${path}`, {
        method: 'PUT',
        headers,
        body,
      })
      expect(status).toBeLessThan(500)
    }
  })
  expect(reached(from).filter((line) => !grammar().test(line))).toEqual([])
})

// A tenant's registry credential when writes and removals overlap or a server dies in between: the secrets store contains
// the current version and no other.

import type { TenantId } from '@holdfast/contract'
import { connectSecretsWriter } from '@holdfast/server/connect-engines'
import type { Caller } from '@holdfast/server/operations/caller'
import {
  putRegistryCredential,
  removeRegistryCredential,
} from '@holdfast/server/operations/secrets/registries'
import { sweepIntents } from '@holdfast/server/operations/secrets/versions/sweep-intents'
import type { SecretsWriter } from '@holdfast/server/ports/secrets-store'
import { registryCredentials, tokens } from '@holdfast/server/store/records'
import { inTenant } from '@holdfast/server/store/transaction'
import { realClock as clock } from '@holdfast/server/system-clock'
import { sharedSecretsStore } from '@holdfast/testkit'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import { createStoreEye, type StoreEye } from '@holdfast/testkit/secrets/store-eye'
import { openTestStore, type TestStore } from '@holdfast/testkit/store/open-test-store'
import { afterAll, beforeAll, expect, test } from 'vitest'

/** A clock ahead of the real one by more than the time after which an intent is abandoned. */
const LATER = { now: () => clock.now() + 120_000 }
const AWAY = { kind: 'unavailable', cause: 'connection', applied: 'no' } as const

let platform: Platform
let observer: TestStore
let secrets: SecretsWriter
let tenant: TenantId
let caller: Caller
let eye: StoreEye
let serial = 0

beforeAll(async () => {
  platform = await ownPlatform()
  observer = await openTestStore({ endpoints: platform.config.etcd.endpoints, root: platform.root })
  secrets = connectSecretsWriter(platform.config)
  tenant = platform.acme.id as TenantId
  eye = createStoreEye({ ...(await sharedSecretsStore()), tenant })
  const token = observer.store.list(tokens).find(({ record }) => record.tenant === tenant)?.record.id
  if (token === undefined) throw new Error('the tenant has no token')
  caller = { tenant, token, role: 'tenant-admin', onBehalf: false, requestId: 'req_test' }
})
afterAll(async () => {
  observer.close()
  await platform.stop()
})

/** Credential operations on an unused registry host; `changed` replaces calls of an operation to the secrets store. */
function registryOf() {
  serial += 1
  const host = `registry-${serial}.example.com:443`
  const deps = (changed: Partial<SecretsWriter> = {}) => ({
    store: observer.store,
    clock,
    secrets: { ...secrets, ...changed },
    allowed: new Set([host]),
  })
  return {
    put: (password: string, changed?: Partial<SecretsWriter>) =>
      putRegistryCredential(deps(changed), caller, host, { username: 'ci', password }, undefined),
    remove: (changed?: Partial<SecretsWriter>) =>
      removeRegistryCredential(deps(changed), caller, host, undefined),
    pinned: async () => {
      await observer.store.fresh()
      return observer.store.get(inTenant(tenant, registryCredentials, host))?.record.version
    },
    live: () => eye.liveVersions(`registries/${host.replace(':', '_')}`),
  }
}

const sweepLater = () => sweepIntents({ store: observer.store, clock: LATER, secrets })

test('a slow write that commits after a removal keeps its version', async () => {
  const { put, remove, pinned, live } = registryOf()
  const written = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const slow = put('the slow one', {
    writeVersion: async (...sent) => {
      const answer = await secrets.writeVersion(...sent)
      written.resolve()
      await goOn.promise
      return answer
    },
  })
  await written.promise
  expect((await put('the quick one')).ok).toBe(true)
  const removed = await remove({
    // The slow write commits after the removal has deleted the record and before the removal calls the secrets store.
    ...letBefore(async () => {
      goOn.resolve()
      expect((await slow).ok).toBe(true)
    }),
  })
  expect(removed.ok).toBe(true)
  expect(await pinned()).toBe(1)
  expect(await live()).toContain(1)
  await sweepLater()
  expect(await live()).toEqual([1])
})

/** Secrets-store calls of which the first one waits until `happen` has finished. */
function letBefore(happen: () => Promise<void>): Pick<SecretsWriter, 'currentVersion' | 'destroyVersion'> {
  let happened: Promise<void> | undefined
  const first = (): Promise<void> => (happened ??= happen())
  return {
    currentVersion: async (...asked) => first().then(() => secrets.currentVersion(...asked)),
    destroyVersion: async (...asked) => first().then(() => secrets.destroyVersion(...asked)),
  }
}

test('a credential removed while the secrets store was unavailable is destroyed once it is back', async () => {
  const { put, remove, pinned, live } = registryOf()
  await put('removed soon')
  const away = { currentVersion: async () => AWAY, destroyVersion: async () => AWAY }
  expect((await remove(away)).ok).toBe(true)
  expect(await pinned()).toBeUndefined()
  await sweepLater()
  expect(await live()).toEqual([])
})

test('a replaced credential is destroyed a minute later, and its replacement is not', async () => {
  const { put, pinned, live } = registryOf()
  for (const password of ['the first', 'the second', 'the third']) await put(password)
  expect(await live()).toEqual([1, 2, 3])
  await sweepIntents({ store: observer.store, clock, secrets })
  expect(await live()).toEqual([1, 2, 3])
  await sweepLater()
  expect([await pinned(), await live()]).toEqual([3, [3]])
})

// The secrets mount of a tenant whose creation fails or is interrupted is removed, and the mount of a tenant that exists
// never is.

import { asTokenId, type Json, type TenantId } from '@holdfast/contract'
import { connectSecretsWriter } from '@holdfast/server/connect-engines'
import type { Caller } from '@holdfast/server/operations/caller'
import { createIdempotentAnswers, idempotencyOf } from '@holdfast/server/operations/idempotency'
import { sweepMounts } from '@holdfast/server/operations/tenants/new-mounts'
import { createTenant } from '@holdfast/server/operations/tenants/tenants'
import type { SecretsWriter } from '@holdfast/server/ports/secrets-store'
import { newMounts, tenants, tokens } from '@holdfast/server/store/records'
import { globally } from '@holdfast/server/store/transaction'
import { realClock as clock, realIds as ids } from '@holdfast/server/system-clock'
import { sharedSecretsStore, uniqueName } from '@holdfast/testkit'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import { openTestStore, type TestStore } from '@holdfast/testkit/store/open-test-store'
import { afterAll, beforeAll, expect, test } from 'vitest'

/** A clock ahead of the real one by more than the time after which a mount is abandoned. */
const LATER = { now: () => clock.now() + 120_000 }

let platform: Platform
let observer: TestStore
let secrets: SecretsWriter
let caller: Caller

beforeAll(async () => {
  platform = await ownPlatform()
  observer = await openTestStore({ endpoints: platform.config.etcd.endpoints, root: platform.root })
  secrets = connectSecretsWriter(platform.config)
  const found = observer.store.list(tokens).find(({ record }) => record.role === 'platform-admin')
  if (found === undefined) throw new Error('the platform has no token')
  const { id: token, tenant, role } = found.record
  caller = { tenant, token, role, onBehalf: false, requestId: 'req_test' }
})
afterAll(async () => {
  observer.close()
  await platform.stop()
})

/** Creates a tenant; `changed` replaces what happens at the creation of the mount. */
function create(provisionTenant: SecretsWriter['provisionTenant'], sent: Sent = {}) {
  const { key, name = uniqueName('t'), as = caller } = sent
  const { store } = observer
  const body: Json = { name }
  const answers = createIdempotentAnswers(store, clock, 24)
  const idempotency = key === undefined ? undefined : idempotencyOf(key, 'POST', '/api/v1/tenants', name)
  return createTenant({ store, clock, ids, answers, secrets: { provisionTenant } }, as, body, {
    idempotency,
    answerOf: (tenant) => ({ status: 201, body: tenant }),
  })
}

interface Sent {
  readonly key?: string
  readonly name?: string
  readonly as?: Caller
}

async function isMounted(tenant: TenantId): Promise<boolean> {
  const { address, rootToken } = await sharedSecretsStore()
  const ask = (path: string) => fetch(`${address}/v1/${path}`, { headers: { 'x-vault-token': rootToken } })
  const mounts: object = Object(await (await ask('sys/mounts')).json())
  return Object.keys(mounts).some((mount) => mount.includes(tenant))
}

/** Mounts of the tenant's id that the run created, in order. */
function recording(also: (tenant: TenantId) => Promise<void> = async () => {}) {
  const made: TenantId[] = []
  const provisionTenant: SecretsWriter['provisionTenant'] = async (tenant) => {
    const answer = await secrets.provisionTenant(tenant)
    made.push(tenant)
    await also(tenant)
    return answer
  }
  return { made, provisionTenant }
}

async function sweep(at = LATER): Promise<void> {
  await observer.store.fresh()
  await sweepMounts({ store: observer.store, clock: at, secrets })
}
const left = async () => {
  await observer.store.fresh()
  return observer.store.list(newMounts).map(({ record }) => record.tenant)
}

test('a mount whose tenant was not created is removed, but not while its creation may continue', async () => {
  const { made, provisionTenant } = recording(async () => {
    throw new Error('the server ends here')
  })
  await expect(create(provisionTenant)).rejects.toThrow('the server ends here')
  const [tenant] = made as [TenantId]
  await sweep(clock)
  expect([await isMounted(tenant), await left()]).toEqual([true, [tenant]])
  await sweep()
  expect([await isMounted(tenant), await left()]).toEqual([false, []])
})

test('of two requests with one Idempotency-Key one mount stays, that of the tenant', async () => {
  const { made, provisionTenant } = recording()
  const sent = { key: uniqueName('key'), name: uniqueName('twice') }
  const [one, other] = await Promise.all([create(provisionTenant, sent), create(provisionTenant, sent)])
  expect([one.ok, other.ok].sort()).toEqual([false, true])
  await sweep()
  const kept = await Promise.all(made.map(async (id) => ((await isMounted(id)) ? [id] : [])))
  expect(kept.flat()).toEqual([one, other].flatMap((each) => (each.ok ? [each.value.id] : [])))
  expect(await left()).toEqual([])
})

test('a creation that is slower than the sweep is rejected, and nothing of it is left', async () => {
  const { made, provisionTenant } = recording(() => sweep())
  const name = uniqueName('slow')
  expect(await create(provisionTenant, { name })).toMatchObject({
    rejections: [{ code: 'secrets_store_unavailable' }],
  })
  expect(await Promise.all(made.map(isMounted))).toEqual([false])
  expect((await create(recording().provisionTenant, { name })).ok).toBe(true)
})

test('the mount of a tenant that exists is kept, even if an intent names it', async () => {
  const { made, provisionTenant } = recording()
  const created = await create(provisionTenant)
  if (!created.ok) throw new Error(JSON.stringify(created.rejections))
  const { id } = created.value
  const createdAt = new Date(0).toISOString()
  await observer.store.transact((transaction) => {
    transaction.put(globally(newMounts, id), { v: 1, tenant: id, createdAt })
    return { kind: 'commit', result: undefined }
  })
  await sweep()
  expect([await isMounted(id), made, await left()]).toEqual([true, [id], []])
  expect(observer.store.get(globally(tenants, id))).toBeDefined()
})

test('a caller whose token was revoked mounts nothing', async () => {
  const { made, provisionTenant } = recording()
  const revoked = { ...caller, token: asTokenId(`tok_${ids.ulid()}`) }
  expect(await create(provisionTenant, { as: revoked })).toMatchObject({
    rejections: [{ code: 'unauthenticated' }],
  })
  expect([made, await left()]).toEqual([[], []])
})

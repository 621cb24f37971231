// Invalid data in etcd affects one tenant only: the fault is reported once, and all other tenants continue.

import { encodeRecord } from '@holdfast/server/store/encode'
import { createKeyspace } from '@holdfast/server/store/keys'
import { audit, deployments, tenants } from '@holdfast/server/store/records'
import { aDeployment, putDeployment, someTenant } from '@holdfast/server/store/records.fixture'
import type { Store } from '@holdfast/server/store/store'
import { globally, inTenant } from '@holdfast/server/store/transaction'
import { unconditionally, write } from '@holdfast/simulation/conformance/fixtures'
import { sharedEtcd, uniqueName } from '@holdfast/testkit'
import { openTestStore, type TestStore } from '@holdfast/testkit/store/open-test-store'
import { expect, onTestFinished, test } from 'vitest'

const [poisoned, sound] = [someTenant(), someTenant()]
const GARBAGE = Buffer.from([0xff, 0x00, 0x7b, 0x22])

async function opened(root: string, options: { deadlineMs?: number } = {}): Promise<TestStore> {
  const one = await openTestStore({ endpoints: (await sharedEtcd()).endpoints, root, ...options })
  onTestFinished(() => one.close())
  return one
}

const create = (store: Store, tenant: typeof sound, name: string) =>
  store.transact((transaction) => {
    if (transaction.get(inTenant(tenant, deployments, name))) return { kind: 'abort', result: 'exists' }
    putDeployment(transaction, tenant, name)
    return { kind: 'commit', result: 'created' }
  })

test('garbage in tenant and global keys is reported once and hides no other record', async () => {
  const root = `/${uniqueName('poison')}`
  const keyspace = createKeyspace(root)
  const before = await opened(root)
  const { engine } = before
  const bad = keyspace.tenantKey(poisoned, deployments.folder, 'bad')
  const badTenant = keyspace.globalKey(tenants.folder, poisoned)
  await write(engine, bad, GARBAGE)
  await write(engine, badTenant, '{"v":1}')
  for (const key of ['/x/', '/t/', '/t/missing/dep/web/', '/g/', '/g/tenant', '/g/unheard-of/x/'])
    await write(engine, `${root}${key}`, GARBAGE)
  await write(engine, keyspace.tenantKey(poisoned, 'slot', 'deployments/first'), GARBAGE)
  await before.store.fresh()

  for (const { store, unreadable } of [before, await opened(root)]) {
    expect(await create(store, sound, uniqueName('web'))).toBe('created')
    expect(await create(store, poisoned, uniqueName('web'))).toBe('created')
    await store.fresh()
    for (let turn = 0; turn < 3; turn += 1) {
      expect(store.list(tenants)).toEqual([])
      expect(store.listWithIds(tenants)).toEqual([])
      expect(store.get(globally(tenants, poisoned))).toBeUndefined()
      expect(store.get(inTenant(poisoned, deployments, 'bad'))).toBeUndefined()
      expect(store.list(deployments, poisoned).length).toBeGreaterThan(0)
      expect(store.list(deployments, sound).length).toBeGreaterThan(0)
    }
    expect([...unreadable].sort()).toEqual([badTenant, bad].sort())
  }
})

test('a transaction on an unreadable record fails at once, and works after a repair', async () => {
  const root = `/${uniqueName('poison')}`
  // A transaction that waited for its deadline would last longer than this test may.
  const { store, engine } = await opened(root, { deadlineMs: 600_000 })
  const key = store.keyspace.tenantKey(poisoned, deployments.folder, 'bad')
  await write(engine, key, GARBAGE)
  await store.fresh()
  await expect(create(store, poisoned, 'bad')).rejects.toMatchObject({ name: 'UnreadableRecordError' })
  await write(engine, key, encodeRecord(deployments, aDeployment('bad')))
  await store.fresh()
  expect(await create(store, poisoned, 'bad')).toBe('exists')
  await engine.transact(unconditionally({ kind: 'delete', key }))
  expect(await create(store, poisoned, 'bad')).toBe('created')
})

test('one unreadable entry among many is left out of reads', async () => {
  const root = `/${uniqueName('poison')}`
  const { store, engine, unreadable } = await opened(root)
  await create(store, poisoned, 'web')
  const bad = store.keyspace.tenantKey(poisoned, audit.folder, 'bad')
  await write(engine, bad, GARBAGE)
  await store.fresh()
  const keys = store.keysOf(audit, poisoned).map(({ key }) => key)
  const read = await store.read(audit, [...keys, `${root}/nothing/`])
  expect(read.map((one) => one?.subject.name)).toEqual(['app', undefined, undefined])
  expect(unreadable).toEqual([bad])
})

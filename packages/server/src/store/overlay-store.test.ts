// Tests the store of a dry run: its writes are visible to its own reads and never reach the store below.

import { expect, test } from 'vitest'
import { aRollout, tenant } from '../loops/controllers/planning/cached-cluster.fixture.ts'
import { createOverlayStore } from './overlay-store.ts'
import { deployments, nodeNames, nodes, slots } from './records.ts'
import { globally, inTenant } from './transaction.ts'

const web = inTenant(tenant, deployments, 'web')
const ids = { ulid: () => '0'.repeat(26) }

function anOverlay() {
  const { deps, next } = aRollout(1, 2)
  return { base: deps.store, next, overlay: createOverlayStore(deps.store, ids) }
}

test('a committed write is visible in the overlay only, with a newer revision', async () => {
  const { base, next, overlay } = anOverlay()
  const before = overlay.get(web)?.modRevision ?? 0
  const changed = { ...next, revision: 9 }
  await overlay.transact((transaction) => {
    transaction.put(web, changed)
    transaction.put(inTenant(tenant, slots, 'deployments/7'), { v: 1, holder: 'dep_1' })
    return { kind: 'commit', result: undefined }
  })
  expect(overlay.get(web)?.record.revision).toBe(9)
  expect(overlay.get(web)?.modRevision).toBeGreaterThan(before)
  expect(overlay.list(deployments, tenant).map(({ record }) => record.revision)).toEqual([9])
  expect(overlay.keysOf(slots, tenant).map(({ id }) => id)).toEqual(['deployments/7'])
  expect(overlay.storedBytes(tenant)).toBeGreaterThan(base.storedBytes(tenant))
  expect([base.get(web)?.record.revision, base.keysOf(slots, tenant)]).toEqual([2, []])
})

test('an aborted transaction changes nothing, and one that waits decides again', async () => {
  const { overlay } = anOverlay()
  let runs = 0
  const result = await overlay.transact((transaction) => {
    runs += 1
    transaction.delete(web)
    if (runs === 1) return { kind: 'wait', until: Promise.resolve() }
    return { kind: 'abort', result: transaction.get(web)?.revision }
  })
  expect([result, runs, overlay.written()]).toEqual([2, 2, []])
})

test('a transaction sees what was stored since an earlier read, unless the overlay was written', async () => {
  const { base, next } = anOverlay()
  const below = createOverlayStore(base, ids)
  const upper = createOverlayStore(
    { ...below, fresh: async () => below.put(web, { ...next, revision: 3 }) },
    ids,
  )
  const revisionIn = () =>
    upper.transact((transaction) => ({ kind: 'abort', result: transaction.get(web)?.revision }))
  expect(upper.get(web)?.record.revision).toBe(2)
  expect(await revisionIn()).toBe(3)
  below.put(web, { ...next, revision: 4 })
  expect(await revisionIn()).toBe(3)
})

test('deletions hide records, one by one, by folder and by tenant', async () => {
  const { base, overlay } = anOverlay()
  const [first] = overlay.list(nodes, tenant)
  const address = inTenant(tenant, nodes, first?.record.id ?? '')
  const erase = (deleted: 'one' | 'within' | 'tenant') =>
    overlay.transact((transaction) => {
      if (deleted === 'one') transaction.delete(address)
      if (deleted === 'within') transaction.deleteWithin(tenant, deployments, 'we')
      if (deleted === 'tenant') transaction.deleteTenant(tenant)
      return { kind: 'commit', result: undefined }
    })
  await erase('one')
  expect([overlay.has(address), overlay.list(nodes, tenant).length]).toEqual([false, 1])
  await erase('within')
  expect(overlay.has(web)).toBe(true)
  await erase('tenant')
  expect([overlay.has(web), overlay.list(nodes, tenant), overlay.keysOf(nodes, tenant)]).toEqual([
    false,
    [],
    [],
  ])
  expect(overlay.listWithIds(nodeNames)).toHaveLength(2)
  expect(base.list(nodes, tenant)).toHaveLength(2)
})

test('listeners hear of a batch once, and a copy carries everything written', () => {
  const { base, next, overlay } = anOverlay()
  const other = createOverlayStore(base, ids)
  const heard: number[] = []
  other.subscribe((changes) => heard.push(changes.length))
  overlay.put(web, { ...next, revision: 3 })
  overlay.delete(globally(nodeNames, 'n1'))
  overlay.copyTo(other)
  expect(heard).toEqual([2])
  expect(other.get(web)?.record.revision).toBe(3)
  expect(other.written().map(({ folder }) => folder)).toEqual([deployments.folder, nodeNames.folder])
})

test('an overlay of an overlay sees its records, also those of collections without a cache', async () => {
  const { next, overlay } = anOverlay()
  const key = overlay.keyspace.tenantKey(tenant, deployments.folder, 'web')
  overlay.put(web, { ...next, revision: 3 })
  const upper = createOverlayStore(overlay, ids)
  expect(upper.get(web)?.record.revision).toBe(3)
  expect(await upper.read(deployments, [key])).toMatchObject([{ revision: 3 }])
  upper.put(web, { ...next, revision: 4 })
  expect(await upper.read(deployments, [key])).toMatchObject([{ revision: 4 }])
  expect(overlay.get(web)?.record.revision).toBe(3)
})

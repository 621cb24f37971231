// A tenant removes a node, or the tenant itself is removed: no container may keep running on a machine without an owner,
// and a replica leaves the node only when its successor is ready.

import type { TenantId, TokenId } from '@holdfast/contract'
import { finishRemovals } from '@holdfast/server/loops/finish-removals'
import type { Caller } from '@holdfast/server/operations/caller'
import { releaseClaim, removeNode } from '@holdfast/server/operations/nodes/release-node'
import {
  nodeNames,
  nodes,
  placements,
  removals,
  type StoredNode,
  tenants,
  tokens,
} from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { globally, inTenant } from '@holdfast/server/store/transaction'
import { realClock as clock, realIds as ids } from '@holdfast/server/system-clock'
import { uniqueName } from '@holdfast/testkit'
import * as world from '@holdfast/testkit/controllers/placing-world'
import { createHeldWatch } from '@holdfast/testkit/session/held-watch'
import { openTestStore } from '@holdfast/testkit/store/open-test-store'
import { expect, onTestFinished, test } from 'vitest'

/** Two stores with the same records, as in two server replicas; `late` sees no changes while its watch is held. */
async function twoStores() {
  const root = `/${uniqueName('giving-up')}`
  const held = createHeldWatch()
  const first = await openTestStore({ root })
  const late = await openTestStore({ root, wrap: held.wrap })
  onTestFinished(() => {
    held.release()
    first.close()
    late.close()
  })
  return { store: first.store, late: late.store, engine: first.engine, held }
}

function runControllers(store: Store): world.Controllers {
  const controllers = world.startControllers(store)
  onTestFinished(() => controllers.stop())
  return controllers
}

/** A caller with the rights of the tenant's administrator. */
async function administrator(store: Store, tenant: TenantId): Promise<Caller> {
  const id = `tok_${ids.ulid()}` as TokenId
  const dates = { createdAt: '2026-01-01T00:00:00.000Z', expiresAt: '2099-01-01T00:00:00.000Z' }
  await world.write(store, (transaction) =>
    transaction.put(globally(tokens, id), {
      v: 1,
      id,
      name: 'administrator',
      role: 'tenant-admin',
      tenant,
      secretHash: '',
      ...dates,
    }),
  )
  return { tenant, token: id, role: 'tenant-admin', onBehalf: false, requestId: 'req' }
}

const GENTLY = { force: false, ifMatch: undefined }
const FORCED = { force: true, ifMatch: undefined }
const isThere = (store: Store, tenant: TenantId, { id, name }: StoredNode): boolean =>
  store.get(inTenant(tenant, nodes, id)) !== undefined && store.get(globally(nodeNames, name)) !== undefined

/** Creates a deployment with one ready replica on each of the named nodes. */
async function running(store: Store, replicas: number, ...names: string[]) {
  const tenant = await world.addTenant(store)
  const added = await world.addNodes(store, tenant, ...names.map((name) => world.aNode(name)))
  const controllers = runControllers(store)
  const { uid } = await world.put(store, tenant, world.deploymentOf('web', { replicas }))
  const assigned = () => world.runningOf(store, tenant, uid)
  await expect.poll(() => assigned().length).toBe(replicas)
  await world.observe(store, tenant, uid, assigned(), {})
  const caller = await administrator(store, tenant)
  return { tenant, nodes: added, controllers, uid, assigned, caller }
}

test('a node is removed after its replicas have ready successors elsewhere', async () => {
  const { store } = await twoStores()
  const [one, two] = [uniqueName('n'), uniqueName('n')]
  const { tenant, nodes: added, controllers, uid, assigned, caller } = await running(store, 2, one, two)
  const [given] = added
  const before = assigned()
  const old = before.find(({ nodeId }) => nodeId === given?.id)
  await releaseClaim({ store, clock }, caller, one, undefined)
  await expect.poll(() => assigned().length).toBe(3)
  const next = assigned().find(({ id }) => !before.some((each) => each.id === id))
  expect(next).toMatchObject({ replica: old?.replica })
  expect(next?.nodeId).not.toBe(given?.id)
  await world.observe(store, tenant, uid, next === undefined ? [] : [next], {})
  const desiredOfOld = () =>
    world.placementOf(store, tenant, uid)?.assignments.find(({ id }) => id === old?.id)?.desired
  await expect.poll(desiredOfOld).toBe('removed')
  expect(store.get(globally(nodeNames, one))?.record.claims[0]?.state).toBe('releasing')
  await world.observe(store, tenant, uid, old === undefined ? [] : [old], {
    gone: true,
    state: 'stopped',
    generation: 3,
  })
  await expect.poll(() => store.get(globally(nodeNames, one))).toBeUndefined()
  const types = (await world.eventsOf(store, tenant)).map(({ type }) => type)
  expect(types).toContain('node.claim_released')
  expect(controllers.errors).toEqual([])
})

test('a removed node keeps a replica that fits nowhere else, and stays until then', async () => {
  const { store } = await twoStores()
  const name = uniqueName('n')
  const { tenant, uid, assigned, caller, nodes: added } = await running(store, 1, name)
  await removeNode({ store, clock }, caller, added[0]?.id ?? '', GENTLY)
  await expect.poll(() => world.placementOf(store, tenant, uid)?.shortfall?.reason).toBe('unschedulable')
  expect(assigned()).toHaveLength(1)
  expect(added[0] && isThere(store, tenant, added[0])).toBe(true)
})

test('a node is not dropped by a server replica whose watch lags behind a new placement', async () => {
  const { store, late, held } = await twoStores()
  const tenant = await world.addTenant(store)
  const [node] = await world.addNodes(store, tenant, world.aNode(uniqueName('n')))
  const caller = await administrator(store, tenant)
  await late.fresh()
  held.hold()
  runControllers(store)
  const { uid } = await world.put(store, tenant, world.deploymentOf('web', { replicas: 1 }))
  await expect.poll(() => world.runningOf(store, tenant, uid).length).toBe(1)
  const removing = removeNode({ store: late, clock }, caller, node?.id ?? '', GENTLY)
  await expect.poll(() => store.get(inTenant(tenant, nodes, node?.id ?? ''))?.record.schedulable).toBe(false)
  held.release()
  await removing
  await store.fresh()
  expect(node && isThere(store, tenant, node)).toBe(true)
})

test('a node is not dropped while a placement of the tenant cannot be read', async () => {
  const { store, engine } = await twoStores()
  const tenant = await world.addTenant(store)
  const [node] = await world.addNodes(store, tenant, world.aNode(uniqueName('n')))
  const key = store.keyspace.tenantKey(tenant, placements.folder, `deployment/dep_${ids.ulid()}`)
  const value = Buffer.from('{"v":2,"assignments":"of a newer server"}')
  await engine.transact({ compares: [], success: [{ kind: 'put', key, value }], failure: [] })
  await removeNode({ store, clock }, await administrator(store, tenant), node?.id ?? '', GENTLY)
  await store.fresh()
  expect(node && isThere(store, tenant, node)).toBe(true)
})

test('force drops a node at once, and its replicas are placed again', async () => {
  const { store } = await twoStores()
  const { tenant, nodes: added, caller, assigned } = await running(store, 1, uniqueName('n'), uniqueName('n'))
  const [old] = assigned()
  const node = added.find(({ id }) => id === old?.nodeId)
  await removeNode({ store, clock }, caller, node?.id ?? '', FORCED)
  await store.fresh()
  expect(node && isThere(store, tenant, node)).toBe(false)
  await expect.poll(() => assigned().map(({ nodeId }) => nodeId === node?.id)).toEqual([false])
})

test('a removed tenant frees no machine on which its containers still run', async () => {
  const { store } = await twoStores()
  const { tenant, nodes: added, uid, assigned } = await running(store, 1, uniqueName('n'))
  const [old] = assigned()
  await world.write(store, (transaction) => {
    const record = store.get(globally(tenants, tenant))?.record
    if (record !== undefined) transaction.put(globally(tenants, tenant), { ...record, deleting: true })
    transaction.put(globally(removals, tenant), { v: 1, tenant, name: null })
  })
  const finish = async () => {
    await store.fresh()
    await finishRemovals({ store, clock, removeTenantSecrets: async () => true })
    await store.fresh()
  }
  await finish()
  expect(added[0] && isThere(store, tenant, added[0])).toBe(true)
  await expect.poll(() => assigned()).toEqual([])
  await world.observe(store, tenant, uid, old === undefined ? [] : [old], {
    gone: true,
    state: 'stopped',
    generation: 3,
  })
  await expect
    .poll(async () => {
      await finish()
      return store.get(globally(tenants, tenant))
    })
    .toBeUndefined()
  expect(store.get(globally(nodeNames, added[0]?.name ?? ''))).toBeUndefined()
})

test('a waiting replica is placed when another deployment requests less', async () => {
  const { store } = await twoStores()
  const tenant = await world.addTenant(store)
  const capacity = { cpuMillis: 1000, memoryBytes: 2 ** 33 }
  await world.addNodes(store, tenant, world.aNode(uniqueName('n'), { capacity }))
  runControllers(store)
  const asking = (name: string, cpuMillis: number) =>
    world.put(
      store,
      tenant,
      world.deploymentOf(name, { replicas: 1, resources: { cpuMillis, memoryBytes: 0 } }),
    )
  const big = await asking('big', 800)
  await expect.poll(() => world.runningOf(store, tenant, big.uid).length).toBe(1)
  const small = await asking('small', 500)
  await expect
    .poll(() => world.placementOf(store, tenant, small.uid)?.shortfall?.reason)
    .toBe('unschedulable')
  await world.revise(store, tenant, big, { resources: { cpuMillis: 100, memoryBytes: 0 } })
  await expect.poll(() => world.runningOf(store, tenant, small.uid).length).toBe(1)
})

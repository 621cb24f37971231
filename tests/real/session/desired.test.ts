// The desired state that a node receives: all assignments at first and then once a minute, and changes in between.

import { setTimeout } from 'node:timers/promises'
import { asOwner, type DesiredState, joinTemplates, ownerOf } from '@holdfast/contract'
import { placements } from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { placementAt } from '@holdfast/server/store/transaction'
import { waitUntil } from '@holdfast/testkit'
import { gatewayForTest } from '@holdfast/testkit/session/gateways'
import { openRaw } from '@holdfast/testkit/session/raw-agent'
import {
  addTenant,
  anAssignment,
  aPlacement,
  enroll,
  place,
  write,
} from '@holdfast/testkit/session/session-records'
import { stopClock } from '@holdfast/testkit/session/stopped-clock'
import { expect, test } from 'vitest'

test('a changed placement arrives as a delta with a newer revision, only at the nodes it concerns', async () => {
  const { url, store } = await gatewayForTest()
  const tenant = await addTenant(store)
  const [one, two] = [await enroll(store, tenant), await enroll(store, tenant)]
  const [first, second] = [await openRaw(url, one), await openRaw(url, two)]
  const [stays, changes] = [anAssignment(one.nodeId), anAssignment(two.nodeId)]
  const uid = await place(store, tenant, [stays, changes])
  const delta = await second.next('delta')
  expect(delta).toMatchObject({ session: 1, gone: [], items: [{ assignmentId: changes.id, generation: 1 }] })
  expect((await first.next('delta')).items).toMatchObject([{ assignmentId: stays.id }])

  await place(store, tenant, [stays, { ...changes, desired: 'removed' }], uid)
  const removed = await second.next('delta')
  expect(removed.items).toMatchObject([{ assignmentId: changes.id, desired: 'removed', generation: 3 }])
  expect(removed.revision).toBeGreaterThan(delta.revision)

  await place(store, tenant, [stays], uid)
  expect(await second.next('delta')).toMatchObject({ items: [], gone: [changes.id] })
  expect(first.heard.filter(({ type }) => type === 'delta')).toHaveLength(1)
})

test('changes of one transaction arrive in one delta', async () => {
  const { url, store, gateway } = await gatewayForTest()
  const tenant = await addTenant(store)
  const node = await enroll(store, tenant)
  const agent = await openRaw(url, node)
  await write(store, (transaction) => {
    for (let index = 0; index < 20; index += 1) {
      const placement = aPlacement([anAssignment(node.nodeId), anAssignment(node.nodeId)])
      transaction.put(placementAt(tenant, placement.owner), placement)
    }
  })
  expect((await agent.next('delta')).items).toHaveLength(40)
  expect(gateway.counts.deltas).toBe(1)
})

const [RESYNC_MS, SWEEP_MS] = [2_000, 20]

test('the complete set is sent repeatedly, spread over the interval', async () => {
  const { url, store, gateway } = await gatewayForTest({ times: { resyncMs: RESYNC_MS, sweepMs: SWEEP_MS } })
  const tenant = await addTenant(store)
  const node = await enroll(store, tenant)
  const assignment = anAssignment(node.nodeId)
  await place(store, tenant, [assignment])
  const clock = stopClock()
  const agent = await openRaw(url, node)
  // The first repetition comes at a random time of the interval; the next two each come a full interval later.
  clock.advance(RESYNC_MS)
  for (let round = 0; round < 3; round += 1) {
    expect((await agent.next('complete')).items).toMatchObject([{ assignmentId: assignment.id }])
    clock.advance(RESYNC_MS - 1)
    // Ten sweeps that find nothing due.
    await setTimeout(10 * SWEEP_MS)
    expect(agent.heard.filter(({ type }) => type === 'complete')).toHaveLength(round + 2)
    clock.advance(1)
  }
  expect(gateway.counts.deltas).toBe(0)
})

test('an unreadable placement makes no set complete, so that no container is removed for it', async () => {
  const { url, store, engine, logged } = await gatewayForTest({ times: { resyncMs: 100, sweepMs: 20 } })
  const tenant = await addTenant(store)
  const node = await enroll(store, tenant)
  const [sound, spoilt] = [anAssignment(node.nodeId), anAssignment(node.nodeId)]
  await place(store, tenant, [sound])
  const uid = await place(store, tenant, [spoilt])
  const agent = await openRaw(url, node)
  expect(agent.items).toHaveLength(2)
  const key = store.keyspace.tenantKey(tenant, placements.folder, ownerOf('deployment', uid))
  const success = [{ kind: 'put' as const, key, value: Buffer.from('{"v":1}') }]
  await engine.transact({ compares: [], success, failure: [] })
  await waitUntil(() => logged.some((line) => line.includes('placement unreadable')), {
    what: 'it is noticed',
  })
  const { items, gone } = await agent.next('delta')
  expect(gone).toEqual([])
  expect(items.map(({ assignmentId }) => assignmentId).sort()).toEqual([sound.id, spoilt.id].sort())
  const completes = () => agent.heard.filter(({ type }) => type === 'complete').length
  const before = completes()
  await agent.next('delta')
  expect(completes()).toBe(before)
  await write(store, (transaction) => transaction.delete(placementAt(tenant, ownerOf('deployment', uid))))
  await waitUntil(() => completes() > before, { what: 'sets are complete again' })
})

test('a template is sent once for each deployment, for any number of replicas', async () => {
  const { url, store } = await gatewayForTest()
  const tenant = await addTenant(store)
  const node = await enroll(store, tenant)
  // Two deployments with different names have the same template hash, and the node gets a template for each.
  for (const name of ['one', 'two'])
    await write(store, (transaction) => {
      const placement = aPlacement(Array.from({ length: 100 }, () => anAssignment(node.nodeId)))
      const [template] = Object.values(placement.templates)
      if (template === undefined) throw new Error('no template')
      const large = { ...template, name, environment: { LARGE: 'x'.repeat(200_000) } }
      const templates = { 'hash-1': large }
      transaction.put(placementAt(tenant, placement.owner), { ...placement, templates })
    })
  const agent = await openRaw(url, node)
  const [complete] = agent.heard.filter(({ type }) => type === 'complete')
  expect(JSON.stringify(complete).length).toBeLessThan(500_000)
  expect(agent.items.filter(({ template }) => template.name === 'one')).toHaveLength(100)
  expect(agent.items.filter(({ template }) => template.name === 'two')).toHaveLength(100)
  await place(store, tenant, [anAssignment(node.nodeId), anAssignment(node.nodeId)])
  const delta = await agent.next('delta')
  expect(Object.keys(delta.templates)).toHaveLength(1)
  expect(joinTemplates(delta)).toMatchObject([{ template: { name: 'web' } }, { template: { name: 'web' } }])
})

/** Wraps a store so that it fails once, as if the desired state were too long for one message. */
function failingOnce() {
  let armed = false
  const wrapStore = (store: Store): Store => ({
    ...store,
    get revision() {
      if (!armed) return store.revision
      armed = false
      throw new RangeError('Invalid string length')
    },
  })
  const arm = (): void => {
    armed = true
  }
  return { wrapStore, arm }
}

test.each(['complete', 'delta'] as const)(
  'a %s message that cannot be sent ends one session and no other',
  async (type) => {
    const { wrapStore, arm } = failingOnce()
    const resyncMs = type === 'complete' ? 200 : 60_000
    const { url, store, gateway, logged } = await gatewayForTest({
      wrapStore,
      times: { resyncMs, sweepMs: 20 },
    })
    const tenant = await addTenant(store)
    const enrolled = [await enroll(store, tenant), await enroll(store, tenant)]
    const agents = await Promise.all(enrolled.map((node) => openRaw(url, node)))
    arm()
    await place(
      store,
      tenant,
      enrolled.map(({ nodeId }) => anAssignment(nodeId)),
    )
    const cut = await waitUntil(() => agents.find((agent) => agent.closeCode() !== undefined), {
      what: 'one session is cut',
    })
    expect(await cut.next('close')).toMatchObject({ code: 'unavailable' })
    expect(logged).toContain('session failed, disconnecting')
    const other = agents.find((agent) => agent !== cut)
    expect((await other?.next(type))?.type).toBe(type)
    expect(gateway.sessions).toBe(1)
  },
)

test('the set includes the assignments of an owner of an unknown kind, also after they change', async () => {
  const { url, store } = await gatewayForTest()
  const tenant = await addTenant(store)
  const node = await enroll(store, tenant)
  const owner = asOwner('cron/cron_1')
  const assignment = anAssignment(node.nodeId)
  const put = (desired: DesiredState) =>
    write(store, (transaction) =>
      transaction.put(placementAt(tenant, owner), { ...aPlacement([{ ...assignment, desired }]), owner }),
    )
  await put('running')
  const agent = await openRaw(url, node)
  expect(agent.items).toMatchObject([{ assignmentId: assignment.id, owner, desired: 'running' }])
  await put('removed')
  expect((await agent.next('delta')).items).toMatchObject([{ owner, desired: 'removed' }])
})

// A replica on a node that residency forbids may stay only while its successor makes progress; otherwise the replica is
// removed. See docs/design/residency.md#displaced-replicas

import type { NodeId, TenantId } from '@holdfast/contract'
import { nodes, type StoredNode } from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { inTenant } from '@holdfast/server/store/transaction'
import { uniqueName } from '@holdfast/testkit'
import {
  type ObedientAgents,
  type Report,
  startObedientAgents,
} from '@holdfast/testkit/controllers/obedient-agents'
import * as world from '@holdfast/testkit/controllers/placing-world'
import { openTestStore, type TestStore } from '@holdfast/testkit/store/open-test-store'
import { afterEach, beforeEach, expect, test } from 'vitest'

const COUNTRY = 'holdfast.io/country'
const ON = { enforcement: true, regions: {} }

let opened: TestStore
let store: Store
let tenant: TenantId
let controllers: world.Controllers
let agents: ObedientAgents | undefined

beforeEach(async () => {
  opened = await openTestStore({ root: `/${uniqueName('stuck')}` })
  store = opened.store
  tenant = await world.addTenant(store)
  controllers = world.startControllers(store, { residency: ON })
})

afterEach(async () => {
  await agents?.stop()
  await controllers.stop()
  opened.close()
  expect(controllers.errors).toEqual([])
})

const german = (name: string, changes: Partial<StoredNode> = {}) =>
  world.aNode(name, { labels: { [COUNTRY]: 'DE' }, attested: { country: 'DE' }, ...changes })

async function change(id: NodeId, changes: Partial<StoredNode>): Promise<void> {
  await world.write(store, (transaction) => {
    const node = transaction.get(inTenant(tenant, nodes, id))
    if (node !== undefined) transaction.put(inTenant(tenant, nodes, id), { ...node, ...changes })
  })
}

/** Creates a deployment with one replica on the first node. `elsewhere` returns the report of replicas on other nodes. */
async function oneReplica(elsewhere: () => Report) {
  const [first, second] = await world.addNodes(
    store,
    tenant,
    german('one'),
    german('two', { schedulable: false }),
  )
  if (first === undefined || second === undefined) throw new Error('no nodes')
  const spec = { replicas: 1, placement: { residency: { country: 'DE' } }, stopGracePeriod: '1s' }
  const { uid } = await world.put(store, tenant, world.deploymentOf('web', spec))
  agents = startObedientAgents(store, tenant, uid, (_template, { nodeId }) =>
    nodeId === first.id ? {} : elsewhere(),
  )
  await expect.poll(() => world.placementOf(store, tenant, uid)?.reportedPhase).toBe('Running')
  await change(second.id, { schedulable: true })
  const homes = () => world.runningOf(store, tenant, uid).map(({ nodeId }) => nodeId)
  return { first, second, homes }
}

test('a displaced replica waits for a successor that is starting', async () => {
  const { first, second, homes } = await oneReplica(() => ({ state: 'starting' }))
  await change(first.id, { labels: { [COUNTRY]: 'US' } })
  await expect.poll(homes).toEqual([first.id, second.id])
  await expect.poll(() => controllers.placing.pending).toBe(0)
  expect(homes()).toEqual([first.id, second.id])
})

test('a displaced replica does not wait for a successor that fails', async () => {
  const { first, second, homes } = await oneReplica(() => ({ state: 'pulling', reason: 'image_pull_failed' }))
  await change(first.id, { labels: { [COUNTRY]: 'US' } })
  await expect.poll(homes).toEqual([second.id])
})

test('a displaced replica does not wait for a successor on an unreachable node', async () => {
  const { first, second, homes } = await oneReplica(() => ({ state: 'starting' }))
  await change(first.id, { labels: { [COUNTRY]: 'US' } })
  await expect.poll(homes).toEqual([first.id, second.id])
  await change(second.id, { status: 'unreachable' })
  await expect.poll(homes).toEqual([second.id])
})

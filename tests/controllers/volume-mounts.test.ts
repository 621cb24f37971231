// How controllers run deployments that mount volumes: on the node of the primary, with one writer at a time, and with
// claims that end only when the container is confirmed gone. Agents only send reports.

import {
  AGENT_CAPABILITIES,
  asVolumeId,
  type DeploymentSpec,
  ownerOf,
  type TenantId,
  type VolumeId,
} from '@holdfast/contract'
import {
  nodes,
  type StoredDeployment,
  type StoredNode,
  type StoredVolume,
  volumes,
  volumeWriters,
} from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { inTenant } from '@holdfast/server/store/transaction'
import { realIds as ids } from '@holdfast/server/system-clock'
import { uniqueName, waitUntil } from '@holdfast/testkit'
import {
  addNodes,
  addTenant,
  aNode,
  type Controllers,
  deploymentOf,
  eventsOf,
  observe,
  placementOf,
  put,
  revise,
  startControllers,
  write,
} from '@holdfast/testkit/controllers/placing-world'
import { openTestStore, type TestStore } from '@holdfast/testkit/store/open-test-store'
import { afterEach, beforeEach, expect, test } from 'vitest'

let opened: TestStore
let store: Store
let tenant: TenantId
let controllers: Controllers
let first: StoredNode
let second: StoredNode
let volume: VolumeId

const AGENT = { version: '0.3.0', capabilities: [...AGENT_CAPABILITIES] }
const STORAGE = { poolBytes: 2 ** 40, usedBytes: 0 }

beforeEach(async () => {
  opened = await openTestStore({ root: `/${uniqueName('mounts')}` })
  store = opened.store
  tenant = await addTenant(store)
  const node = (name: string) => aNode(uniqueName(name), { agent: AGENT, storage: STORAGE })
  ;[first, second] = (await addNodes(store, tenant, node('a'), node('b'))) as [StoredNode, StoredNode]
  volume = await addVolume()
  controllers = startControllers(store)
})

afterEach(async () => {
  await controllers.stop()
  opened.close()
  expect(controllers.errors).toEqual([])
})

async function addVolume(parts: Partial<StoredVolume> = {}): Promise<VolumeId> {
  const id = asVolumeId(`vol_${ids.ulid()}`)
  await write(store, (transaction) =>
    transaction.put(inTenant(tenant, volumes, id), {
      v: 1,
      id,
      spec: { name: 'data', class: 'replicated', sizeBytes: 2 ** 24, replicas: 1 },
      phase: 'Ready',
      reason: null,
      primary: { nodeId: first.id, epoch: 1, since: '' },
      copies: [{ nodeId: first.id, role: 'primary', state: 'current' }],
      revision: 1,
      createdAt: '',
      slot: 0,
      ...parts,
    }),
  )
  return id
}

async function change(parts: Partial<StoredVolume>): Promise<void> {
  const address = inTenant(tenant, volumes, volume)
  await write(store, (transaction) => {
    const stored = transaction.get(address)
    if (stored !== undefined) transaction.put(address, { ...stored, ...parts })
  })
}

const setNode = (node: StoredNode, parts: Partial<StoredNode>) =>
  write(store, (transaction) => transaction.put(inTenant(tenant, nodes, node.id), { ...node, ...parts }))

const mounting = (readOnly: boolean): Partial<DeploymentSpec> => ({
  replicas: 1,
  update: {
    order: readOnly ? 'start-first' : 'stop-first',
    parallelism: 1,
    failureAction: 'rollback',
    progressDeadline: '60s',
  },
  volumes: [{ volume, target: '/data', type: 'volume', readOnly }],
})

/** Stores a deployment that writes to the volume, together with its claim, as admission does. */
async function addWriter(): Promise<StoredDeployment> {
  const stored = deploymentOf(uniqueName('db'), mounting(false))
  const { uid, spec } = stored
  await write(store, (transaction) => {
    const owner = ownerOf('deployment', uid)
    const claim = { v: 1, volume, owner, name: spec.name, epoch: 0, state: 'bound' as const }
    transaction.put(inTenant(tenant, volumeWriters, volume), claim)
  })
  return put(store, tenant, stored)
}

const release = () =>
  write(store, (transaction) => {
    const address = inTenant(tenant, volumeWriters, volume)
    const claim = transaction.get(address)
    if (claim !== undefined) transaction.put(address, { ...claim, state: 'releasing' })
  })

const claimNow = () => store.get(inTenant(tenant, volumeWriters, volume))?.record
const assignmentsOf = ({ uid }: StoredDeployment) => placementOf(store, tenant, uid)?.assignments ?? []

/** Each assignment as `a running` or `b removed`, by the first letter of its node. */
const shownOf = (stored: StoredDeployment) =>
  assignmentsOf(stored).map(({ nodeId, desired }) => `${nodeId === first.id ? 'a' : 'b'} ${desired}`)

const becomes = (stored: StoredDeployment, ...expected: string[]) =>
  waitUntil(() => JSON.stringify(shownOf(stored)) === JSON.stringify(expected), {
    what: `the assignments are ${expected.join(', ')}`,
    seen: () => shownOf(stored).join(', '),
  })

/** Waits until the controllers have nothing to do, so that a step that must not happen would have happened. */
async function settle(): Promise<void> {
  await store.fresh()
  await waitUntil(() => controllers.placing.pending === 0, { what: 'the queue is empty' })
}

const confirmGone = async (stored: StoredDeployment) => {
  const removed = assignmentsOf(stored).filter(({ desired }) => desired === 'removed')
  await observe(store, tenant, stored.uid, removed, { gone: true, state: 'stopped' })
}

const readyNow = (stored: StoredDeployment) =>
  observe(store, tenant, stored.uid, assignmentsOf(stored), { state: 'ready' })

test('an update of a writer waits until the old container is confirmed gone', async () => {
  const stored = await addWriter()
  await becomes(stored, 'a running')
  const [writer] = assignmentsOf(stored)
  expect(claimNow()).toMatchObject({ assignmentId: writer?.id, epoch: 1, state: 'bound' })
  expect(Object.values(placementOf(store, tenant, stored.uid)?.templates ?? {})[0]?.mounts).toMatchObject([
    { volume, target: '/data', type: 'volume', readOnly: false },
  ])
  await readyNow(stored)
  const next = await revise(store, tenant, stored, { environment: { A: '1' } })
  await becomes(next, 'a removed')
  await settle()
  expect(shownOf(next)).toEqual(['a removed'])
  await confirmGone(next)
  await becomes(next, 'a running')
  expect(claimNow()?.assignmentId).not.toBe(writer?.id)
})

test('a writer on a failed node is replaced only after the primary has moved', async () => {
  const stored = await addWriter()
  await becomes(stored, 'a running')
  await readyNow(stored)
  await setNode(first, { status: 'failed' })
  await settle()
  expect(shownOf(stored)).toEqual(['a running'])
  await change({ primary: { nodeId: second.id, epoch: 2, since: '' } })
  await becomes(stored, 'a removed', 'b running')
  expect(claimNow()).toMatchObject({ epoch: 2 })
})

test('a drained writer runs until its volume has a current copy, and then follows the primary', async () => {
  const stored = await addWriter()
  await becomes(stored, 'a running')
  await readyNow(stored)
  await setNode(first, { schedulable: false, draining: true })
  const { message } = await waitUntil(
    async () => (await eventsOf(store, tenant)).find(({ type }) => type === 'deployment.stalled'),
    { what: 'the drain says what it waits for' },
  )
  expect(message).toContain(
    'The drain waits: volume data has no current copy on a node that accepts its primary',
  )
  expect(shownOf(stored)).toEqual(['a running'])
  const current = { nodeId: second.id, role: 'replica' as const, state: 'current' as const }
  await change({ copies: [{ nodeId: first.id, role: 'primary', state: 'current' }, current] })
  await becomes(stored, 'a removed')
  await confirmGone(stored)
  await becomes(stored)
  await change({ handover: { to: second.id, since: '' } })
  await settle()
  expect(shownOf(stored)).toEqual([])
  await change({ handover: null, primary: { nodeId: second.id, epoch: 2, since: '' } })
  await becomes(stored, 'b running')
})

test('readers run on the node of the primary and follow it', async () => {
  const stored = await put(store, tenant, deploymentOf(uniqueName('web'), { ...mounting(true), replicas: 2 }))
  await becomes(stored, 'a running', 'a running')
  await readyNow(stored)
  await change({ primary: { nodeId: second.id, epoch: 2, since: '' } })
  await waitUntil(() => shownOf(stored).includes('b running'), { what: 'a reader is started there' })
})

test('the claim of a dropped mount ends only when its container is confirmed gone', async () => {
  const stored = await addWriter()
  await becomes(stored, 'a running')
  await readyNow(stored)
  await release()
  const next = await revise(store, tenant, stored, { volumes: [], replicas: 0 })
  await becomes(next, 'a removed')
  await settle()
  expect(claimNow()?.state).toBe('releasing')
  await confirmGone(next)
  await waitUntil(() => claimNow() === undefined, { what: 'the claim is deleted' })
})

// The volume controller without agents: the test writes node records and the reports of agents directly to the store.

import {
  AGENT_CAPABILITIES,
  asVolumeId,
  type NodeId,
  type TenantId,
  VERSION,
  type VolumeSpec,
} from '@holdfast/contract'
import { COPY_GRACE_MS } from '@holdfast/core'
import { driveVolumes, type VolumeController } from '@holdfast/server/loops/controllers/volumes/drive-volumes'
import { type Leadership, startLeadership } from '@holdfast/server/loops/leadership/lead-shards'
import {
  copyReportId,
  copyReports,
  nodes,
  type StoredCopyReport,
  type StoredNode,
  type StoredVolume,
  volumes,
} from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { inTenant } from '@holdfast/server/store/transaction'
import { realIds as ids, realClock } from '@holdfast/server/system-clock'
import { uniqueName } from '@holdfast/testkit'
import { addNodes, addTenant, aNode, eventsOf, write } from '@holdfast/testkit/controllers/placing-world'
import { TENTH } from '@holdfast/testkit/controllers/timings'
import { openTestStore, type TestStore } from '@holdfast/testkit/store/open-test-store'
import { afterEach, beforeEach, expect, test } from 'vitest'

const GIB = 1024 ** 3

let opened: TestStore
let store: Store
let tenant: TenantId
let leadership: Leadership
let controller: VolumeController
let now: number
let errors: unknown[]

beforeEach(async () => {
  opened = await openTestStore({ root: `/${uniqueName('volumes')}` })
  store = opened.store
  tenant = await addTenant(store)
  now = realClock.now()
  errors = []
  const onError = (error: unknown) => errors.push(error)
  leadership = startLeadership({
    store,
    clock: realClock,
    replica: 'one',
    url: 'http://one',
    timings: TENTH,
    onError,
  })
  controller = driveVolumes({
    store,
    leadership,
    clock: { now: () => now },
    residency: { enforcement: true, regions: {} },
    random: Math.random,
    onError,
  })
})

afterEach(async () => {
  await controller.stop()
  await leadership.stop()
  opened.close()
  expect(errors).toEqual([])
})

const pooled = (name: string, gib = 100): StoredNode =>
  aNode(name, {
    agent: { version: VERSION, capabilities: [...AGENT_CAPABILITIES] },
    storage: { poolBytes: gib * GIB, usedBytes: 0 },
  })

async function putVolume(spec: Partial<VolumeSpec> = {}): Promise<StoredVolume['id']> {
  const id = asVolumeId(`vol_${ids.ulid()}`)
  const volume: StoredVolume = {
    v: 1,
    id,
    spec: { name: 'data', class: 'replicated', sizeBytes: GIB, replicas: 1, ...spec },
    phase: 'Pending',
    reason: 'unschedulable',
    primary: null,
    copies: [],
    revision: 1,
    createdAt: '',
    slot: 0,
  }
  await write(store, (transaction) => transaction.put(inTenant(tenant, volumes, id), volume))
  return id
}

const volumeOf = (id: StoredVolume['id']) => store.get(inTenant(tenant, volumes, id))?.record

/** Reports a copy as present, and the replicas as current. */
async function report(
  id: StoredVolume['id'],
  nodeId: NodeId,
  parts: Partial<StoredCopyReport> = {},
): Promise<void> {
  const { primary, copies = [] } = volumeOf(id) ?? {}
  const replicas = copies.filter(({ role }) => role === 'replica')
  await write(store, (transaction) =>
    transaction.put(inTenant(tenant, copyReports, copyReportId(id, nodeId)), {
      v: 1,
      volume: id,
      nodeId,
      epoch: primary?.epoch ?? 1,
      state: 'present',
      sizeBytes: GIB,
      reason: '',
      replicas: replicas.map((copy) => ({ nodeId: copy.nodeId, state: 'current' as const })),
      at: '',
      ...parts,
    }),
  )
}

/** Reports the primary and its replicas. */
async function reportAll(id: StoredVolume['id']): Promise<void> {
  for (const { nodeId, role } of volumeOf(id)?.copies ?? [])
    await report(id, nodeId, role === 'primary' ? {} : { replicas: [] })
}

const change = (node: StoredNode, parts: Partial<StoredNode>) =>
  write(store, (transaction) => transaction.put(inTenant(tenant, nodes, node.id), { ...node, ...parts }))

const shown = (id: StoredVolume['id']) => {
  const { phase, reason, primary, copies, leaving = [] } = volumeOf(id) ?? { phase: 'gone' }
  return {
    phase,
    reason,
    primary: primary?.nodeId,
    epoch: primary?.epoch,
    copies: copies?.map(({ nodeId, state }) => `${nodeId} ${state}`),
    leaving: leaving.map(({ nodeId }) => nodeId),
  }
}

/** Waits until the controller has seen every write so far. */
async function settled(): Promise<void> {
  await store.fresh()
  await expect.poll(() => controller.pending).toBe(0)
}

const becomes = (id: StoredVolume['id'], expected: object) =>
  expect.poll(() => shown(id), { timeout: 10_000 }).toMatchObject(expected)

async function readyVolume(primary: StoredNode, spec: Partial<VolumeSpec> = {}) {
  const id = await putVolume(spec)
  await becomes(id, { phase: 'Materializing', primary: primary.id })
  await reportAll(id)
  await becomes(id, { phase: 'Ready', reason: null })
  return id
}

test('a pending volume is placed when a node fits, and a second one when the first frees the room', async () => {
  const id = await putVolume({ sizeBytes: 40 * GIB, replicas: 0 })
  await becomes(id, { phase: 'Pending' })
  const [node] = await addNodes(store, tenant, pooled('n1'))
  await becomes(id, { phase: 'Materializing', primary: node?.id })
  const next = await putVolume({ sizeBytes: 40 * GIB, replicas: 0, name: 'next' })
  await settled()
  expect(shown(next)).toMatchObject({ phase: 'Pending' })
  const first = volumeOf(id)
  if (first === undefined || node === undefined) throw new Error('no volume')
  const leaving = [{ nodeId: node.id, since: '' }]
  await write(store, (transaction) =>
    transaction.put(inTenant(tenant, volumes, id), { ...first, phase: 'Deleting', copies: [], leaving }),
  )
  await settled()
  expect(shown(next)).toMatchObject({ phase: 'Pending' })
  await report(id, node.id, { state: 'removed', sizeBytes: 0 })
  await becomes(id, { phase: 'gone' })
  await becomes(next, { phase: 'Materializing' })
  expect(store.keysOf(copyReports, tenant)).toEqual([])
})

test('a copy on a node that failed half an hour ago is placed elsewhere and deleted when the node returns', async () => {
  const [first, second, third] = await addNodes(
    store,
    tenant,
    pooled('n1', 103),
    pooled('n2', 102),
    pooled('n3', 101),
  )
  if (first === undefined || second === undefined || third === undefined) throw new Error('no nodes')
  const id = await readyVolume(first)
  await change(second, { status: 'failed', statusSince: new Date(now).toISOString() })
  await becomes(id, { reason: 'under_replicated', copies: [`${first.id} current`, `${second.id} missing`] })
  now += COPY_GRACE_MS
  await becomes(id, { copies: [`${first.id} current`, `${third.id} seeding`], leaving: [second.id] })
  await report(id, first.id)
  // The new copy counts once its own node has reported data: the primary may speak of an earlier copy on that node.
  await settled()
  expect(shown(id)).toMatchObject({ reason: 'under_replicated' })
  await reportAll(id)
  await becomes(id, { phase: 'Ready', reason: null })
  await change(second, {})
  await report(id, second.id, { state: 'removed', sizeBytes: 0 })
  await becomes(id, { leaving: [] })
})

test('a failed node degrades a replicated volume and recreates an ephemeral one, empty', async () => {
  const [first, second] = await addNodes(store, tenant, pooled('n1', 110), pooled('n2'))
  if (first === undefined || second === undefined) throw new Error('no nodes')
  const replicated = await readyVolume(first, { replicas: 0 })
  const ephemeral = await readyVolume(first, { class: 'ephemeral', replicas: 0, name: 'scratch' })
  await change(first, { status: 'failed', statusSince: new Date(now).toISOString() })
  await becomes(replicated, { phase: 'Degraded', reason: 'node_failed', primary: first.id, epoch: 1 })
  await becomes(ephemeral, { phase: 'Materializing', primary: second.id, epoch: 2, leaving: [first.id] })
  await change(first, {})
  await becomes(replicated, { phase: 'Ready' })
  const types = (await eventsOf(store, tenant)).map(({ type }) => type)
  expect(types.filter((type) => type === 'volume.lost')).toHaveLength(1)
  expect(types).toContain('volume.degraded')
})

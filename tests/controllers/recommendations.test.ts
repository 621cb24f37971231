// When recommendations appear and vanish, with the volume controller and in virtual time: seven days of little data, and ten
// minutes without a copy. The test writes what agents report and measure. One is applied on machines in e2e/volumes.test.ts.

import {
  AGENT_CAPABILITIES,
  asVolumeId,
  type Measurement,
  type NodeId,
  RECOMMENDATION_TYPES,
  type Recommendation,
  type TenantId,
  VERSION,
} from '@holdfast/contract'
import { addMeasurement, type DailyMaxima, highestUse } from '@holdfast/core/node'
import { driveVolumes, type VolumeController } from '@holdfast/server/loops/controllers/volumes/drive-volumes'
import { type Leadership, startLeadership } from '@holdfast/server/loops/leadership/lead-shards'
import { createMeasurements, type Measurements } from '@holdfast/server/operations/volumes/measure-volumes'
import {
  listRecommendations,
  type RecommendationFilter,
} from '@holdfast/server/operations/volumes/recommendations'
import {
  copyReportId,
  copyReports,
  nodes,
  type StoredNode,
  type StoredVolume,
  volumes,
} from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { inTenant } from '@holdfast/server/store/transaction'
import { realIds as ids, realClock } from '@holdfast/server/system-clock'
import { uniqueName } from '@holdfast/testkit'
import { addNodes, addTenant, aNode, write } from '@holdfast/testkit/controllers/placing-world'
import { TENTH } from '@holdfast/testkit/controllers/timings'
import { openTestStore, type TestStore } from '@holdfast/testkit/store/open-test-store'
import { afterEach, beforeEach, expect, test } from 'vitest'

const MIB = 1024 ** 2
const SIZE = 100 * MIB
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

let opened: TestStore
let store: Store
let tenant: TenantId
let leadership: Leadership
let controller: VolumeController
let measurements: Measurements
let now: number
let errors: unknown[]
let primary: StoredNode
let other: StoredNode
/** Bytes in use, by volume. A volume that is not in it was never measured. */
let used: Map<string, number>
/** Whether the agent of the primary answers with new measurements, and the last of them. */
let isMeasuring: boolean
let measured: readonly Measurement[]
/** Types that were listed and then no longer. */
const vanished = new Set<string>()

beforeEach(async () => {
  opened = await openTestStore({ root: `/${uniqueName('advice')}` })
  store = opened.store
  tenant = await addTenant(store)
  now = realClock.now()
  ;[errors, used, isMeasuring, measured] = [[], new Map(), true, []]
  const onError = (error: unknown) => errors.push(error)
  const clock = { now: () => now }
  const names = { replica: 'one', url: 'http://one' }
  leadership = startLeadership({ store, clock: realClock, ...names, timings: TENTH, onError })
  const residency = { enforcement: true, regions: {} }
  controller = driveVolumes({ store, leadership, clock, residency, random: Math.random, onError })
  const maxima = new Map<string, DailyMaxima>()
  measurements = createMeasurements(
    async (_tenant, nodeId) => {
      if (nodeId !== primary.id) return 'unreachable'
      if (isMeasuring) measured = [...used].map(([volume, bytes]) => measure(maxima, volume, bytes))
      return measured
    },
    () => now,
  )
  const added = await addNodes(store, tenant, pooled('n1', 110), pooled('n2', 100))
  ;[primary = missing(), other = missing()] = added
})

afterEach(async () => {
  await controller.stop()
  await leadership.stop()
  opened.close()
  expect(errors).toEqual([])
})

function missing(): never {
  throw new Error('no node was added')
}

const pooled = (name: string, gib: number): StoredNode =>
  aNode(name, {
    agent: { version: VERSION, capabilities: [...AGENT_CAPABILITIES] },
    storage: { poolBytes: gib * 1024 * MIB, usedBytes: 0 },
  })

/** Measures a volume as its agent does, which keeps the highest usage of each day. */
function measure(maxima: Map<string, DailyMaxima>, volume: string, usedBytes: number): Measurement {
  const measuredAt = new Date(now).toISOString()
  const days = addMeasurement(maxima.get(volume) ?? {}, measuredAt, usedBytes)
  maxima.set(volume, days)
  const highest = highestUse(days)
  return { volume: asVolumeId(volume), usedBytes, measuredAt, ...(highest === undefined ? {} : { highest }) }
}

const change = (node: StoredNode, parts: Partial<StoredNode>) =>
  write(store, (transaction) => transaction.put(inTenant(tenant, nodes, node.id), { ...node, ...parts }))

const recordOf = (id: StoredVolume['id']) => store.get(inTenant(tenant, volumes, id))?.record

/** Adds a volume whose primary is on the first node, and waits until it is ready. */
async function addVolume(name: string, usedBytes: number, replicas = 1): Promise<StoredVolume['id']> {
  const id = asVolumeId(`vol_${ids.ulid()}`)
  used.set(id, usedBytes)
  const spec = { name, class: 'replicated' as const, sizeBytes: SIZE, replicas }
  const placed = { phase: 'Pending' as const, reason: 'unschedulable' as const, primary: null, copies: [] }
  const volume: StoredVolume = { v: 1, id, spec, ...placed, revision: 1, createdAt: '', slot: 0 }
  await write(store, (transaction) => transaction.put(inTenant(tenant, volumes, id), volume))
  await expect.poll(() => recordOf(id)?.primary?.nodeId).toBe(primary.id)
  await report(id)
  return id
}

/** Reports every copy as present, and waits until the volume is ready. */
async function report(id: StoredVolume['id']): Promise<void> {
  const { copies = [] } = recordOf(id) ?? {}
  const replicas = copies.filter(({ role }) => role === 'replica')
  const current = replicas.map(({ nodeId }) => ({ nodeId, state: 'current' as const }))
  await write(store, (transaction) => {
    for (const { nodeId, role } of copies) stage(nodeId, role === 'primary' ? current : [])
    function stage(nodeId: NodeId, seen: typeof current): void {
      transaction.put(inTenant(tenant, copyReports, copyReportId(id, nodeId)), {
        ...{ v: 1, volume: id, nodeId, epoch: 1, state: 'present', sizeBytes: SIZE },
        ...{ reason: '', replicas: seen, at: '' },
      })
    }
  })
  await expect.poll(() => recordOf(id)).toMatchObject({ phase: 'Ready', reason: null })
}

async function changeSpec(id: StoredVolume['id'], spec: Partial<StoredVolume['spec']>): Promise<void> {
  const before = recordOf(id)
  if (before === undefined) throw new Error('the volume is gone')
  await write(store, (transaction) =>
    transaction.put(inTenant(tenant, volumes, id), { ...before, spec: { ...before.spec, ...spec } }),
  )
}

/** The recommendations as a client reads them, once an earlier answer of the agent is no longer used. */
async function list(filter: Partial<RecommendationFilter> = {}): Promise<readonly Recommendation[]> {
  now += MINUTE_MS / 2
  const answer = await listRecommendations({ store, clock: { now: () => now }, measurements }, tenant, {
    limit: 100,
    ...filter,
  })
  if (!answer.ok) throw new Error(JSON.stringify(answer))
  return answer.value.items
}

/** Each recommendation as its priority, type and volume, and whether it can be applied. */
const shown = (listed: readonly Recommendation[]): string[] =>
  listed.map(({ priority, type, volume_name, applicable }) =>
    [priority, type, volume_name, ...(applicable ? [] : ['not applicable'])].join(' '),
  )

async function isGone(type: string): Promise<void> {
  expect(shown(await list({ recommendationType: type }))).toEqual([])
  vanished.add(type)
}

test('a volume without a replica is listed until it has one', async () => {
  const id = await addVolume('bare', 50 * MIB, 0)
  await addVolume('safe', 50 * MIB)
  expect(shown(await list())).toEqual(['high under_replicated bare'])
  expect(await list({ priority: 'medium' })).toEqual([])
  await changeSpec(id, { replicas: 1 })
  await expect.poll(() => recordOf(id)?.copies.length).toBe(2)
  await report(id)
  await isGone('under_replicated')
})

test('a full volume is listed until its data is deleted or it is larger, and applicable while it is measured', async () => {
  const [emptied, full] = [await addVolume('emptied', 90 * MIB), await addVolume('full', 90 * MIB)]
  isMeasuring = false
  measured = [{ volume: full, usedBytes: 90 * MIB, measuredAt: new Date(now - 8 * DAY_MS).toISOString() }]
  const [outdated] = await list()
  expect(shown(await list())).toEqual(['high capacity_low full not applicable'])
  isMeasuring = true
  expect(shown(await list())).toEqual(['high capacity_low emptied', 'high capacity_low full'])
  expect((await list()).at(-1)).toMatchObject({
    id: outdated?.id,
    parameters: { action: 'resize', target_size_bytes: 135 * MIB },
  })
  used.set(emptied, MIB)
  expect(shown(await list())).toEqual(['high capacity_low full'])
  await changeSpec(full, { sizeBytes: 135 * MIB })
  await isGone('capacity_low')
})

test('a volume with little data is listed after seven days, until it is smaller', async () => {
  const id = await addVolume('roomy', 20 * MIB)
  for (let day = 0; day < 7; day += 1) {
    expect(shown(await list())).toEqual([])
    now += DAY_MS
  }
  const listed = await list()
  expect(shown(listed)).toEqual(['low capacity_excess roomy'])
  expect(listed[0]?.parameters).toMatchObject({ target_size_bytes: 26 * MIB })
  await changeSpec(id, { sizeBytes: 26 * MIB })
  await isGone('capacity_excess')
})

test('a copy on a lost machine is listed after ten minutes, until the machine is back', async () => {
  const id = await addVolume('data', 50 * MIB)
  await change(other, { status: 'failed', statusSince: new Date(now).toISOString() })
  await expect.poll(() => recordOf(id)?.copies.map(({ state }) => state)).toContain('missing')
  now += 9 * MINUTE_MS
  expect(await list()).toEqual([])
  now += MINUTE_MS
  const [found] = await list()
  // A third copy would need a third node.
  expect(shown(await list())).toEqual(['high replica_unhealthy data not applicable'])
  expect(found?.why).toContain('n2')
  await change(other, {})
  await report(id)
  await isGone('replica_unhealthy')
})

test('volumes whose primary is on a cordoned node are listed until it is uncordoned', async () => {
  for (const name of ['data', 'more']) await addVolume(name, 50 * MIB)
  await change(primary, { schedulable: false })
  await store.fresh()
  const risks = [
    'critical primary_at_risk data not applicable',
    'critical primary_at_risk more not applicable',
  ]
  expect(shown(await list())).toEqual(risks)
  await change(primary, {})
  await isGone('primary_at_risk')
})

test('every type of recommendation has appeared and vanished in these tests', () => {
  expect([...vanished].toSorted()).toEqual(RECOMMENDATION_TYPES.toSorted())
})

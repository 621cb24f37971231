// The promotion controller beside the placement and volume controllers. Agents are simulated: the test writes their reports
// to the store and answers the calls about promises.

import {
  AGENT_CAPABILITIES,
  type AskedVolume,
  asVolumeId,
  type DeploymentSpec,
  NODE_COUNTRY,
  type NodeId,
  ownerOf,
  PROMISES,
  type PromiseAnswer,
  type TenantId,
  type VolumeId,
} from '@holdfast/contract'
import { driveVolumes, type VolumeController } from '@holdfast/server/loops/controllers/volumes/drive-volumes'
import { startPromotions } from '@holdfast/server/loops/controllers/volumes/promote-volumes'
import type { Repeating } from '@holdfast/server/loops/repeat'
import { readPlacements } from '@holdfast/server/operations/deployments/read/read-placements'
import type { PromotionPort } from '@holdfast/server/operations/volumes/promotion/promotion-port'
import {
  copyReportId,
  copyReports,
  nodes,
  type StoredCopyReport,
  type StoredDeployment,
  type StoredNode,
  type StoredVolume,
  volumes,
  volumeWriters,
} from '@holdfast/server/store/records'
import type { Store } from '@holdfast/server/store/store'
import { inTenant } from '@holdfast/server/store/transaction'
import { realIds as ids, realClock } from '@holdfast/server/system-clock'
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
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const AGENT = { version: '0.3.0', capabilities: [...AGENT_CAPABILITIES, PROMISES] }
const STORAGE = { poolBytes: 2 ** 40, usedBytes: 0 }
const SIZE = 2 ** 24

let opened: TestStore
let store: Store
let tenant: TenantId
let controllers: Controllers
let driving: VolumeController
let promoting: Repeating
let errors: unknown[]
let [a, b, c]: StoredNode[] = []
let data: VolumeId
/** The nodes that the server does not hear. */
let silent: Set<NodeId>
/** The answer of each agent about a volume; undefined: it does not answer. */
let answer: (nodeId: NodeId, asked: AskedVolume) => Partial<PromiseAnswer> | undefined
let calls: string[]
/** The quota of containers. */
let containers: number
/** Called before an agent answers a call. */
let before: (method: string) => Promise<void>

beforeEach(async () => {
  opened = await openTestStore({ root: `/${uniqueName('promotions')}` })
  store = opened.store
  tenant = await addTenant(store)
  const node = (name: string) => aNode(uniqueName(name), { agent: AGENT, storage: STORAGE })
  ;[a, b, c] = await addNodes(store, tenant, node('a'), node('b'), node('c'))
  silent = new Set()
  answer = () => ({})
  calls = []
  containers = 100
  before = async () => {}
  errors = []
  data = await addVolume()
  controllers = startControllers(store, { limit: () => containers })
  const deps = {
    store,
    clock: realClock,
    leadership: controllers.leadership,
    residency: { enforcement: true, regions: {} },
    random: Math.random,
    onError: (error: unknown) => errors.push(error),
  }
  driving = driveVolumes(deps)
  promoting = startPromotions({ ...deps, promotions: port, everyMs: 20 })
})

afterEach(async () => {
  await Promise.all([promoting.stop(), driving.stop(), controllers.stop()])
  opened.close()
  expect([...errors, ...controllers.errors]).toEqual([])
})

const idOf = (node: StoredNode | undefined): NodeId => {
  if (node === undefined) throw new Error('the node was not added')
  return node.id
}

/** Simulated agents: a promise has expired, checkpoints 9 and 8 are held, and the primary wrote until second 20 at most. */
const port: PromotionPort = {
  limits: { maxLagMs: 60_000, apartMs: 60_000 },
  isSilent: async (_tenant, nodeId) => silent.has(nodeId),
  async askPromises(_tenant, nodeId, method, asked) {
    calls.push(`${method} ${letterOf(nodeId)}`)
    await before(method)
    if (silent.has(nodeId)) return 'unreachable'
    return asked.flatMap((each): PromiseAnswer[] => {
      const parts = answer(nodeId, each)
      const { volume, epoch, cv } = each
      const state = method === 'prepare' ? 'voted' : 'expired'
      const held = [checkpoint(9, epoch), checkpoint(8, epoch)]
      const full = { volume, epoch, cv, state, held, lastWriteBy: { boot: 1, ms: 20_000 } } as const
      return parts === undefined ? [] : [{ ...full, held: [...held], ...parts }]
    })
  },
}

const checkpoint = (number: number, epoch = 1) => ({
  epoch,
  number,
  takenAt: { boot: 1, ms: number * 1_000 },
})
const letterOf = (nodeId: NodeId | undefined): string =>
  ['a', 'b', 'c'][[a, b, c].findIndex((node) => node?.id === nodeId)] ?? '?'

async function addVolume(parts: Partial<StoredVolume> = {}): Promise<VolumeId> {
  const id = asVolumeId(`vol_${ids.ulid()}`)
  const copy = { state: 'current' as const, seeded: true }
  await write(store, (transaction) =>
    transaction.put(inTenant(tenant, volumes, id), {
      v: 1,
      id,
      spec: { name: uniqueName('data'), class: 'replicated', sizeBytes: SIZE, replicas: 2 },
      phase: 'Ready',
      reason: null,
      primary: { nodeId: idOf(a), epoch: 1, since: '' },
      copies: [
        { nodeId: idOf(a), role: 'primary', ...copy },
        { nodeId: idOf(b), role: 'replica', ...copy },
        { nodeId: idOf(c), role: 'replica', ...copy },
      ],
      promotable: [idOf(b), idOf(c)],
      cv: 3,
      provisioned: true,
      revision: 1,
      createdAt: '',
      slot: 0,
      ...parts,
    }),
  )
  await report(id, idOf(a))
  return id
}

async function report(id: VolumeId, nodeId: NodeId, parts: Partial<StoredCopyReport> = {}): Promise<void> {
  const epoch = volumeOf(id)?.primary?.epoch ?? 1
  const replicas = [b, c].map((node) => ({ nodeId: idOf(node), state: 'current' as const }))
  await write(store, (transaction) =>
    transaction.put(inTenant(tenant, copyReports, copyReportId(id, nodeId)), {
      v: 1,
      volume: id,
      nodeId,
      epoch,
      state: 'present',
      sizeBytes: SIZE,
      reason: '',
      ...(nodeId === volumeOf(id)?.primary?.nodeId ? { replicas } : {}),
      at: '',
      ...parts,
    }),
  )
}

const claimOf = (id: VolumeId) => store.get(inTenant(tenant, volumeWriters, id))?.record
const volumeOf = (id: VolumeId) => store.get(inTenant(tenant, volumes, id))?.record
const primaryOf = (id: VolumeId) =>
  `${letterOf(volumeOf(id)?.primary?.nodeId)} ${volumeOf(id)?.primary?.epoch}`

async function change(id: VolumeId, parts: Partial<StoredVolume>): Promise<void> {
  await write(store, (transaction) => {
    const stored = transaction.get(inTenant(tenant, volumes, id))
    if (stored !== undefined) transaction.put(inTenant(tenant, volumes, id), { ...stored, ...parts })
  })
}

const setNode = (node: StoredNode | undefined, parts: Partial<StoredNode>) =>
  write(store, (transaction) => {
    const stored = transaction.get(inTenant(tenant, nodes, idOf(node)))
    if (stored !== undefined) transaction.put(inTenant(tenant, nodes, stored.id), { ...stored, ...parts })
  })

/** Stores a deployment that writes to volumes, together with its claims, as admission does, and its ready container. */
async function addWriter(written: readonly VolumeId[], parts: Partial<DeploymentSpec> = {}) {
  const mounts = written.map((volume) => ({
    volume,
    target: `/${volume.slice(-6)}`,
    type: 'volume' as const,
    readOnly: false,
  }))
  const order = {
    order: 'stop-first',
    parallelism: 1,
    failureAction: 'rollback',
    progressDeadline: '60s',
  } as const
  const stored = deploymentOf(uniqueName('db'), { replicas: 1, update: order, volumes: mounts, ...parts })
  const owner = ownerOf('deployment', stored.uid)
  await write(store, (transaction) => {
    for (const volume of written) {
      const claim = { v: 1, volume, owner, name: stored.spec.name, epoch: 0, state: 'bound' as const }
      transaction.put(inTenant(tenant, volumeWriters, volume), claim)
    }
  })
  await put(store, tenant, stored)
  await becomes(stored, 'a running')
  await observe(store, tenant, stored.uid, assignmentsOf(stored), { state: 'ready' })
  return stored
}

const assignmentsOf = ({ uid }: StoredDeployment) => placementOf(store, tenant, uid)?.assignments ?? []
const shownOf = (stored: StoredDeployment) =>
  assignmentsOf(stored).map(({ nodeId, desired }) => `${letterOf(nodeId)} ${desired}`)

const becomes = (stored: StoredDeployment, ...expected: string[]) =>
  waitUntil(() => JSON.stringify(shownOf(stored)) === JSON.stringify(expected), {
    what: `the assignments are ${expected.join(', ')}`,
    seen: () => shownOf(stored).join(', '),
  })

const promoted = (id: VolumeId, expected: string) =>
  waitUntil(() => primaryOf(id) === expected, {
    what: `the primary is ${expected}`,
    seen: () => primaryOf(id),
  })

/** The primary's machine is lost, and the promises of both copies expire. */
async function losePrimary(...all: readonly VolumeId[]): Promise<void> {
  silent.add(idOf(a))
  for (const id of all) for (const node of [b, c]) await report(id, idOf(node), { isPromiseExpired: true })
}

/** Waits until the promotion controller has looked again, after all that happened before. */
async function looked(method = 'promises'): Promise<void> {
  const count = () => calls.filter((call) => call.startsWith(method)).length
  const seen = count()
  await waitUntil(() => count() >= seen + 3, {
    what: 'the copies were asked again',
    seen: () => calls.join(),
  })
}

const eventsAbout = async (type: string) =>
  (await eventsOf(store, tenant)).filter((event) => event.type === type)

describe('a silent primary', () => {
  test('is replaced by a copy, and the writer follows although its node is not confirmed gone', async () => {
    const stored = await addWriter([data])
    await losePrimary(data)
    await promoted(data, 'b 2')
    expect(volumeOf(data)).toMatchObject({
      phase: 'Promoting',
      from: { epoch: 1, number: 9 },
      promotable: [],
      cv: 4,
      promotions: [{ fromEpoch: 1, toEpoch: 2, checkpoint: 9, lossMs: 11_000, cause: 'primary_silent' }],
    })
    await becomes(stored, 'a removed', 'b running')
    const shown = await readPlacements(store, tenant, stored.spec.name)
    expect(shown.ok && shown.value.items.map(({ state }) => state)).toEqual(['lost', 'assigned'])
    expect(store.get(inTenant(tenant, volumeWriters, data))?.record).toMatchObject({
      assignmentId: assignmentsOf(stored)[1]?.id,
      epoch: 2,
    })
    expect(await eventsAbout('volume.promoted')).toMatchObject([
      { data: { fromEpoch: 1, toEpoch: 2, from: a?.id, to: b?.id, checkpoint: 9, lossSeconds: 11 } },
    ])
    // The old machine is back: its agent removes the container, and nothing else is created there.
    silent.clear()
    await report(data, idOf(b), { state: 'present' })
    const [old] = assignmentsOf(stored)
    await observe(store, tenant, stored.uid, old === undefined ? [] : [old], { gone: true, state: 'stopped' })
    await becomes(stored, 'b running')
    await waitUntil(() => volumeOf(data)?.phase === 'Ready', { what: 'the volume is ready' })
  })

  test.each(['unreachable', 'failed'] as const)(
    'on a node that is %s is replaced together with its writer, also during an update',
    async (status) => {
      const stored = await addWriter([data])
      const next = await revise(store, tenant, stored, { environment: { A: '1' } })
      await becomes(next, 'a removed')
      await setNode(a, { status })
      await losePrimary(data)
      await promoted(data, 'b 2')
      await becomes(next, 'a removed', 'b running')
      expect(assignmentsOf(next)[1]?.revision).toBe(next.revision)
    },
  )

  test('is replaced together with its writer although the quota of containers is reached', async () => {
    containers = 1
    const stored = await addWriter([data])
    await losePrimary(data)
    await becomes(stored, 'a removed', 'b running')
  })

  test('leaves a claim that ends although the old container is never confirmed gone', async () => {
    const stored = await addWriter([data])
    await losePrimary(data)
    await becomes(stored, 'a removed', 'b running')
    const address = inTenant(tenant, volumeWriters, data)
    await write(store, (transaction) => {
      const claim = transaction.get(address)
      if (claim !== undefined) transaction.put(address, { ...claim, state: 'releasing' })
    })
    const next = await revise(store, tenant, stored, { volumes: [], replicas: 0 })
    await becomes(next, 'a removed', 'b removed')
    const [, moved] = assignmentsOf(next)
    await observe(store, tenant, next.uid, moved === undefined ? [] : [moved], {
      gone: true,
      state: 'stopped',
    })
    await waitUntil(() => store.get(address) === undefined, { what: 'the claim is deleted' })
    expect(shownOf(next)).toEqual(['a removed'])
  })

  test('is replaced by the copy with the newest checkpoint', async () => {
    answer = (nodeId) => (nodeId === c?.id ? { held: [checkpoint(12)] } : {})
    await losePrimary(data)
    await promoted(data, 'c 2')
    expect(calls).not.toContain('prepare b')
  })

  test('is replaced for all volumes of a workload, from the checkpoint that all of them have', async () => {
    const wal = await addVolume()
    answer = (_nodeId, { volume }) => (volume === wal ? { held: [checkpoint(10), checkpoint(8)] } : {})
    const stored = await addWriter([data, wal])
    await losePrimary(data, wal)
    await promoted(data, 'b 2')
    expect([data, wal].map((id) => volumeOf(id)?.from?.number)).toEqual([8, 8])
    expect([data, wal].map(primaryOf)).toEqual(['b 2', 'b 2'])
    await becomes(stored, 'a removed', 'b running')
  })

  test('is not replaced for a part of the volumes of a workload', async () => {
    const wal = await addVolume()
    answer = (_nodeId, { volume }) => (volume === wal ? { state: 'promised' } : {})
    await addWriter([data, wal])
    await losePrimary(data, wal)
    await looked()
    expect([data, wal].map(primaryOf)).toEqual(['a 1', 'a 1'])
    expect(calls.filter((call) => call.startsWith('prepare'))).toEqual([])
  })

  test('is replaced for a volume that its workload adds before the vote is used', async () => {
    const wal = await addVolume()
    const stored = await addWriter([data])
    before = async (method) => {
      if (method !== 'prepare' || claimOf(wal) !== undefined) return
      const claim = claimOf(data)
      await write(store, (transaction) => {
        if (claim !== undefined)
          transaction.put(inTenant(tenant, volumeWriters, wal), { ...claim, volume: wal })
      })
      const [mount] = stored.spec.volumes ?? []
      if (mount !== undefined)
        await revise(store, tenant, stored, { volumes: [mount, { ...mount, volume: wal, target: '/wal' }] })
      await report(wal, idOf(b), { isPromiseExpired: true })
    }
    await losePrimary(data)
    await promoted(data, 'b 2')
    expect(primaryOf(wal)).toBe('b 2')
    expect(calls.filter((call) => call === 'prepare b')).toHaveLength(2)
  })

  test('is not replaced while it sends heartbeats', async () => {
    await report(data, idOf(b), { isPromiseExpired: true })
    silent.add(idOf(c))
    await waitUntil(() => promoting !== undefined, { what: 'the controller runs' })
    await store.fresh()
    expect([primaryOf(data), calls]).toEqual(['a 1', []])
    silent.add(idOf(a))
    await promoted(data, 'b 2')
  })

  test('is not replaced if it sends heartbeats again before the vote is used', async () => {
    before = async (method) => {
      if (method === 'prepare') silent.delete(idOf(a))
    }
    await losePrimary(data)
    await waitUntil(() => calls.includes('prepare b'), { what: 'a copy is prepared' })
    await store.fresh()
    expect(primaryOf(data)).toBe('a 1')
  })

  test('is not replaced by a vote for an earlier configuration', async () => {
    before = async (method) => {
      if (method === 'prepare' && volumeOf(data)?.cv === 3) await change(data, { cv: 4 })
    }
    await losePrimary(data)
    await promoted(data, 'b 2')
    expect(volumeOf(data)?.cv).toBe(5)
    expect(calls.filter((call) => call === 'prepare b')).toHaveLength(2)
  })

  test('is not replaced by the vote of a node that is no longer promotable', async () => {
    before = async (method) => {
      if (method === 'prepare' && volumeOf(data)?.cv === 3)
        await change(data, { cv: 4, promotable: [idOf(c)] })
    }
    await losePrimary(data)
    await promoted(data, 'c 2')
  })

  test('is replaced after a server ended between the vote and its use', async () => {
    let crashes = 0
    before = async (method) => {
      if (method === 'prepare') crashes += 1
      if (crashes === 1 && method === 'prepare') throw new Error('the server ended')
    }
    answer = () => (crashes > 0 ? { state: 'voted' } : {})
    await losePrimary(data)
    await promoted(data, 'b 2')
    expect(errors.splice(0)).toHaveLength(1)
  })

  test('is not replaced by a copy whose node residency refuses', async () => {
    const spec = { name: 'data', class: 'replicated' as const, sizeBytes: SIZE, replicas: 2 }
    await change(data, { spec: { ...spec, residency: { blockedCountries: ['SE'] } } })
    for (const node of [b, c]) await setNode(node, { labels: { [NODE_COUNTRY]: 'SE' } })
    await losePrimary(data)
    await waitUntil(() => volumeOf(data)?.promotable?.length === 0, { what: 'the copies leave' })
    await looked()
    expect(primaryOf(data)).toBe('a 1')
  })

  test('is not replaced by a copy on which the writer could not run', async () => {
    await setNode(c, { labels: { disk: 'fast' } })
    await setNode(a, { labels: { disk: 'fast' } })
    const constraints = [{ label: 'disk', operator: 'in' as const, values: ['fast'] }]
    await addWriter([data], { placement: { constraints } })
    await losePrimary(data)
    await promoted(data, 'c 2')
  })

  test('that has dropped its copies and receives no answer is not replaced, and continues when it is back', async () => {
    const stored = await addWriter([data])
    // The server has dropped both copies for the primary, whose agent never hears of it: its lease ends.
    await change(data, { promotable: [], cv: 5 })
    await losePrimary(data)
    await report(data, idOf(a), { fencedSince: '2026-01-01T00:00:00.000Z' })
    await setNode(a, { status: 'unreachable' })
    await looked()
    expect(calls.filter((call) => call.startsWith('prepare'))).toEqual([])
    expect([primaryOf(data), volumeOf(data)?.cv]).toEqual(['a 1', 5])
    // The path is whole again: the session delivers the newer version, and the agent reports no fence.
    silent.clear()
    await setNode(a, { status: 'ready' })
    await report(data, idOf(a))
    for (const node of [b, c]) await report(data, idOf(node))
    await waitUntil(() => volumeOf(data)?.phase === 'Ready', { what: 'the volume is ready' })
    expect([primaryOf(data), volumeOf(data)?.unpromoted ?? null]).toEqual(['a 1', null])
    await becomes(stored, 'a running')
    // Copies that the primary adds again may replace it.
    await change(data, { promotable: [idOf(b)], cv: 6 })
    await losePrimary(data)
    await promoted(data, 'b 2')
  })

  test('keeps a volume degraded if all copies are too far behind', async () => {
    answer = () => ({ lastWriteBy: { boot: 1, ms: 100_000 } })
    await losePrimary(data)
    await waitUntil(() => volumeOf(data)?.unpromoted === 'copies_lagging', { what: 'the reason is noted' })
    await setNode(a, { status: 'unreachable' })
    await waitUntil(() => volumeOf(data)?.phase === 'Degraded', { what: 'the volume is degraded' })
    await looked()
    expect(volumeOf(data)?.reason).toBe('copies_lagging')
    expect(await eventsAbout('volume.degraded')).toHaveLength(1)
    silent.clear()
    await setNode(a, { status: 'ready' })
    await waitUntil(() => volumeOf(data)?.unpromoted === null, { what: 'the reason is removed' })
    await waitUntil(() => volumeOf(data)?.phase === 'Ready', { what: 'the volume is ready' })
  })

  test('is not replaced twice within a minute', async () => {
    await losePrimary(data)
    await promoted(data, 'b 2')
    await change(data, { promotable: [idOf(c)], cv: 5 })
    silent.add(idOf(b))
    calls = []
    await report(data, idOf(c), { isPromiseExpired: true })
    await store.fresh()
    await waitUntil(() => volumeOf(data)?.cv === 5, { what: 'the change is stored' })
    expect([primaryOf(data), calls]).toEqual(['b 2', []])
  })
})

test('a fence is published once', async () => {
  const since = '2026-01-01T00:00:00.000Z'
  for (const at of ['1', '2']) await report(data, idOf(a), { fencedSince: since, at })
  await waitUntil(async () => (await eventsAbout('volume.fenced')).length > 0, { what: 'the event' })
  await report(data, idOf(a), { fencedSince: '2026-01-01T00:01:00.000Z' })
  await waitUntil(async () => (await eventsAbout('volume.fenced')).length > 1, { what: 'the next event' })
  expect(await eventsAbout('volume.fenced')).toMatchObject([
    { data: { nodeId: a?.id, since, epoch: 1 } },
    { data: { since: '2026-01-01T00:01:00.000Z' } },
  ])
})

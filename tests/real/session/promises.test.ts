// The configuration of volumes, which primaries change and agents are sent, and the calls about promises, votes and the
// silence of nodes, on two server replicas.

import {
  AGENT_CAPABILITIES,
  asVolumeId,
  CALL_VOLUMES,
  type ConfigureRequest,
  type DesiredCopy,
  type NodeId,
  PROMISES,
  type TenantId,
  type VolumeId,
} from '@holdfast/contract'
import {
  copyReportId,
  copyReports,
  nodeNames,
  nodes,
  type StoredVolume,
  volumes,
} from '@holdfast/server/store/records'
import { globally, inTenant, placementAt } from '@holdfast/server/store/transaction'
import { waitUntil } from '@holdfast/testkit'
import { gatewaysForTest } from '@holdfast/testkit/session/gateways'
import {
  addTenant,
  anAssignment,
  aPlacement,
  type EnrolledNode,
  enroll,
  write,
} from '@holdfast/testkit/session/session-records'
import type { TestGateway } from '@holdfast/testkit/session/start-gateway'
import { stopClock } from '@holdfast/testkit/session/stopped-clock'
import { obey, openVolumeAgent, type VolumeAgent, vote } from '@holdfast/testkit/session/volume-agent'
import { expect, test } from 'vitest'

const GIB = 1024 ** 3
const TIME = '2026-01-01T00:00:00.000Z'
const VOLUME = asVolumeId('vol_01JD0000000000000000000000')
const SILENT_MS = 1_000

interface World {
  readonly one: TestGateway
  readonly two: TestGateway
  readonly tenant: TenantId
  readonly ids: readonly [NodeId, NodeId, NodeId]
  readonly primary: VolumeAgent
  readonly replica: VolumeAgent
  /** A node whose agent cannot promise. */
  readonly older: VolumeAgent
}

/** A volume with its primary on the first node and complete replicas on two others; all sessions are on `one`. */
async function startWorld(): Promise<World> {
  const times = { silentMs: SILENT_MS, promiseCallMs: SILENT_MS / 2 }
  const [one, two] = await gatewaysForTest({ times }, { times })
  const tenant = await addTenant(one.store)
  const [first, second, third] = [await join(one, tenant), await join(one, tenant), await join(one, tenant)]
  const ids = [first.nodeId, second.nodeId, third.nodeId] as const
  await putVolumes(one, tenant, ids, [VOLUME])
  const older = AGENT_CAPABILITIES.filter((name) => name !== PROMISES)
  const open = (node: EnrolledNode, capabilities?: readonly string[]) =>
    openVolumeAgent(one.url, node, { poolBytes: 1_000 * GIB, ...(capabilities && { capabilities }) })
  const [primary, replica] = [await open(first), await open(second)]
  const world = { one, two, tenant, ids, primary, replica, older: await open(third, older) }
  await two.store.fresh()
  return world
}

/** Enrolls a node with the claim of its tenant on it, without which the scheduler refuses the node. */
async function join({ store }: TestGateway, tenant: TenantId): Promise<EnrolledNode> {
  const node = await enroll(store, tenant)
  await store.fresh()
  const name = store.get(inTenant(tenant, nodes, node.nodeId))?.record.name ?? ''
  const claim = { tenant, nodeId: node.nodeId, state: 'active' as const }
  await write(store, (transaction) => transaction.put(globally(nodeNames, name), { v: 1, claims: [claim] }))
  return node
}

function aVolume(id: VolumeId, [first, ...others]: World['ids']): StoredVolume {
  const complete = { state: 'current', seeded: true } as const
  return {
    v: 1,
    id,
    spec: { name: id.toLowerCase().replace('_', '-'), class: 'replicated', sizeBytes: GIB, replicas: 2 },
    phase: 'Ready',
    reason: null,
    primary: { nodeId: first, epoch: 1, since: TIME },
    copies: [
      { nodeId: first, role: 'primary', ...complete },
      ...others.map((nodeId) => ({ nodeId, role: 'replica' as const, ...complete })),
    ],
    provisioned: true,
    revision: 1,
    createdAt: TIME,
    slot: 0,
  }
}

const putVolumes = (
  { store }: TestGateway,
  tenant: TenantId,
  nodeIds: World['ids'],
  ids: readonly VolumeId[],
): Promise<void> =>
  write(store, (transaction) => {
    for (const id of ids) transaction.put(inTenant(tenant, volumes, id), aVolume(id, nodeIds))
  })

const grow = (nodeId: NodeId, parts: Partial<ConfigureRequest> = {}): ConfigureRequest => ({
  kind: 'grow',
  volume: VOLUME,
  epoch: 1,
  cv: 0,
  nodeId,
  ...parts,
})
const READ: ConfigureRequest = { kind: 'read', volume: VOLUME, epoch: 1 }

async function stored({ two, tenant }: World) {
  await two.store.fresh()
  return two.store.get(inTenant(tenant, volumes, VOLUME))?.record
}

const copyWhen = (agent: VolumeAgent, what: string, is: (copy: DesiredCopy) => boolean) =>
  waitUntil(() => [...agent.copies.values()].find(is), { what })

test('a primary adds and drops promotable nodes, and agents that can promise are sent the configuration', async () => {
  const world = await startWorld()
  const { primary, replica, older, ids } = world
  const [first, second] = ids
  const grown = { volume: VOLUME, epoch: 1, primary: first, promotable: [second], cv: 1 }
  // Requests that arrive together add the node once: the others find it in the record.
  for (const answer of await Promise.all(Array.from({ length: 5 }, () => primary.configure([grow(second)]))))
    expect(answer.configurations).toEqual([grown])
  expect(await stored(world)).toMatchObject({ promotable: [second], cv: 1 })
  for (const agent of [primary, replica]) {
    const copy = await copyWhen(agent, 'the configuration arrives', ({ cv }) => cv === 1)
    expect(copy.promotable).toEqual([second])
  }
  expect([...older.copies.values()]).toMatchObject([{ volume: VOLUME, role: 'replica' }])
  for (const member of ['cv', 'promotable', 'images'])
    expect([...older.copies.values()][0]).not.toHaveProperty(member)

  expect((await replica.configure([READ])).configurations).toEqual([grown])
  const shrink: ConfigureRequest = { kind: 'shrink', volume: VOLUME, epoch: 1, nodeId: second }
  const again = { ...grow(second), cv: 2 }
  const { configurations } = await primary.configure([shrink, READ, again])
  expect(configurations).toEqual([{ ...grown, cv: 3 }])
})

test('a request that another node, tenant, epoch or version sends changes nothing', async () => {
  const world = await startWorld()
  const { one, primary, replica, ids } = world
  const [first, second] = ids
  const unchanged = [{ volume: VOLUME, epoch: 1, primary: first, promotable: [], cv: 0 }]
  expect((await replica.configure([grow(second)])).configurations).toEqual(unchanged)
  for (const request of [
    grow(second, { cv: 1 }),
    grow(second, { epoch: 2 }),
    { ...grow(second), kind: 'shrink' as const },
  ])
    expect((await primary.configure([request])).configurations).toEqual(unchanged)
  for (const owner of [world.tenant, await addTenant(one.store)]) {
    const stranger = await openVolumeAgent(one.url, await join(one, owner), { poolBytes: GIB })
    expect((await stranger.configure([grow(second), READ])).configurations).toEqual([])
  }
  const many = Array.from({ length: CALL_VOLUMES + 1 }, () => READ)
  expect((await primary.configure(many)).error).toBe('request_invalid')
  expect((await primary.configure([grow(second, { cv: -1 })])).error).toBe('request_invalid')
  expect(await stored(world)).not.toHaveProperty('promotable')
})

test('a node that sends too many changes is refused for a while, and no other node is', async () => {
  const { primary, replica, ids } = await startWorld()
  const shrink = { ...grow(ids[1]), kind: 'shrink' as const }
  // More than two windows allow, because a window may end between the calls.
  const sent = Array.from({ length: 202 }, () => primary.configure([shrink]))
  const errors = (await Promise.all(sent)).map(({ error }) => error)
  expect(errors).toContain('too_many_writes')
  expect((await replica.configure([READ])).configurations).toHaveLength(1)
})

test('a node that may not be added is refused with a newer version, and each volume of a long call is configured', async () => {
  const { one, tenant, ids, primary } = await startWorld()
  const others = Array.from({ length: 60 }, (_, at) =>
    asVolumeId(`vol_01JD00000000000000000000${String(at + 10)}`),
  )
  await putVolumes(one, tenant, ids, others)
  const { configurations = [] } = await primary.configure(others.map((volume) => grow(ids[1], { volume })))
  expect(configurations.map(({ promotable, cv }) => [promotable, cv])).toEqual(
    others.map(() => [[ids[1]], 1]),
  )
  const node = inTenant(tenant, nodes, ids[1])
  await one.store.fresh()
  await write(one.store, (transaction) => {
    const before = transaction.get(node)
    if (before !== undefined) transaction.put(node, { ...before, schedulable: false })
  })
  // The primary itself, a node that is cordoned, and an agent that cannot promise.
  for (const [cv, nodeId] of ids.entries()) {
    const { configurations: refused } = await primary.configure([grow(nodeId, { cv })])
    expect(refused).toMatchObject([{ promotable: [], cv: cv + 1 }])
  }
})

test('a promotable replica is sent the images of the writers, and learns each change', async () => {
  const { one, tenant, ids, primary, replica } = await startWorld()
  const imagesWhen = async (images: readonly string[]) =>
    expect
      .poll(() => [...replica.copies.values()].map((copy) => copy.images), { timeout: 10_000 })
      .toEqual([images])
  await primary.configure([grow(ids[1])])
  await imagesWhen([])
  const placement = aPlacement([anAssignment(ids[0])])
  const deploy = (image: string, readOnly: boolean) =>
    write(one.store, (transaction) => {
      const mounts = [{ volume: VOLUME, target: '/data', type: 'volume' as const, readOnly }]
      const templates = Object.fromEntries(
        Object.entries(placement.templates).map(([hash, template]) => [hash, { ...template, image, mounts }]),
      )
      transaction.put(placementAt(tenant, placement.owner), { ...placement, templates })
    })
  const image = (digit: string) => `registry.example:5000/db@sha256:${digit.repeat(64)}`
  await deploy(image('b'), false)
  await imagesWhen([image('b')])
  await deploy(image('c'), false)
  await imagesWhen([image('c')])
  await deploy(image('c'), true)
  await imagesWhen([])
  expect([...primary.copies.values()][0]).not.toHaveProperty('images')
})

test('reports about promises and fences are stored from the copies that they concern', async () => {
  const { one, two, tenant, ids, primary, replica, older } = await startWorld()
  await primary.configure([grow(ids[1])])
  await copyWhen(replica, 'the configuration arrives', ({ cv }) => cv === 1)
  const reportOf = async (nodeId: NodeId) => {
    await two.store.fresh()
    return two.store.get(inTenant(tenant, copyReports, copyReportId(VOLUME, nodeId)))?.record
  }
  const all = { isPromiseExpired: true, fencedSince: TIME, reason: 'seen' }
  for (const agent of [primary, replica, older]) agent.behave((copy) => ({ ...obey(copy), ...all }))
  const reports = await waitUntil(
    async () => {
      const found = [await reportOf(ids[0]), await reportOf(ids[1]), await reportOf(ids[2])]
      return found.every((report) => report?.reason === 'seen') ? found : undefined
    },
    { what: 'all reports are stored' },
  )
  expect(reports.map((report) => [report?.isPromiseExpired, report?.fencedSince])).toEqual([
    [undefined, TIME],
    [true, undefined],
    [undefined, undefined],
  ])
  const writes = one.gateway.counts.statusWrites
  replica.behave((copy) => ({ ...obey(copy), ...all }))
  primary.behave((copy) => ({ ...obey(copy), reason: 'seen', fencedSince: 'a moment ago' }))
  replica.behave((copy) => ({ ...obey(copy), reason: 'seen' }))
  await waitUntil(async () => (await reportOf(ids[1]))?.isPromiseExpired === undefined, {
    what: 'the promise is live again',
  })
  expect((await reportOf(ids[0]))?.fencedSince).toBe(TIME)
  expect(one.gateway.counts.statusWrites).toBe(writes + 1)
})

test('either server replica asks a node for promises and votes, and no answer is never an empty one', async () => {
  const { one, two, tenant, ids, primary, replica } = await startWorld()
  const other = asVolumeId('vol_01JD0000000000000000000001')
  const asked = [{ volume: VOLUME, epoch: 1, cv: 4 }]
  for (const { gateway } of [one, two])
    expect(await gateway.askPromises(tenant, ids[1], 'promises', asked)).toEqual([
      { volume: VOLUME, epoch: 1, cv: 4, state: 'promised', held: [] },
    ])
  expect(await two.gateway.askPromises(tenant, ids[0], 'promises', asked)).toMatchObject([
    { state: 'primary' },
  ])
  expect(primary.asked).toEqual([{ method: 'promises', volumes: asked }])
  replica.promise(vote(7))
  expect(await two.gateway.askPromises(tenant, ids[1], 'prepare', asked)).toMatchObject([
    { state: 'voted', held: [{ epoch: 1, number: 7 }], lastWriteBy: { boot: 1, ms: 11_000 } },
  ])
  replica.promise(() => ({ volume: other, epoch: 1, cv: 4, state: 'voted', held: [] }))
  expect(await one.gateway.askPromises(tenant, ids[1], 'promises', asked)).toEqual([])
  expect(await one.gateway.askPromises(tenant, ids[2], 'promises', asked)).toBe('unreachable')
  replica.promise(undefined)
  for (const { gateway } of [one, two])
    expect(await gateway.askPromises(tenant, ids[1], 'promises', asked)).toBe('unreachable')
})

test('a node is silent only after no server replica has heard it for the whole time', async () => {
  const { one, two, tenant, ids, primary } = await startWorld()
  const [first, second] = ids
  const silent = () => Promise.all([one, two].map(({ gateway }) => gateway.isSilent(tenant, first)))
  primary.behave(obey)
  expect(await silent()).toEqual([false, false])
  const before = one.gateway.sessions
  primary.behave(obey)
  primary.close()
  await expect.poll(() => one.gateway.sessions).toBe(before - 1)
  const clock = stopClock()
  // The node sent its last message at most this long ago.
  const heardMs = SILENT_MS / 2
  clock.advance(SILENT_MS - heardMs)
  expect(await silent()).toEqual([false, false])
  clock.advance(heardMs)
  expect(await silent()).toEqual([true, true])
  await one.stop()
  expect(await two.gateway.isSilent(tenant, second)).toBe(false)
  clock.advance(SILENT_MS - 1)
  expect(await two.gateway.isSilent(tenant, second)).toBe(false)
  clock.advance(1)
  expect(await two.gateway.isSilent(tenant, second)).toBe(true)
})

// Volumes on nodes with scripted agents: the copies that agents are sent, the phases that follow from their reports,
// measurements, deletion, drain and removal.

import {
  AGENT_CAPABILITIES,
  asNodeId,
  asTenantId,
  asVolumeId,
  CHECKPOINTS,
  type ConfigureRequest,
  type JsonObject,
  NODE_COUNTRY,
  type NodeId,
  PROMISES,
  VERSION,
} from '@holdfast/contract'
import { nodes, type StoredNode } from '@holdfast/server/store/records'
import { inTenant } from '@holdfast/server/store/transaction'
import { waitUntil } from '@holdfast/testkit'
import type { ApiClient } from '@holdfast/testkit/platform/api-client'
import { changeRecord } from '@holdfast/testkit/platform/change-record'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import { makeTenant, type Platform } from '@holdfast/testkit/platform/start-platform'
import { openRaw } from '@holdfast/testkit/session/raw-agent'
import {
  type EnrolledVolumeNode,
  enrollVolumeNode,
  obey,
  openVolumeAgent,
  type VolumeAgent,
} from '@holdfast/testkit/session/volume-agent'
import { afterAll, beforeAll, expect, test } from 'vitest'

const GIB = 1024 ** 3
const POOL = 100 * GIB
const ROLES = ['api', 'broker', 'gateway', 'controllers']

let platform: Platform
let admin: ApiClient

beforeAll(async () => {
  platform = await ownPlatform({ settings: { roles: ROLES, volumes: { enabled: true } } })
  admin = platform.api()
})
afterAll(() => platform.stop())

interface Shown {
  readonly [member: string]: unknown
  readonly id: string
  readonly phase: string
  readonly reason: string | null
  readonly primary: { readonly nodeId: string; readonly epoch: number }
  readonly copies: readonly {
    readonly nodeId: string
    readonly role: string
    readonly state: string
    readonly promotable: boolean
    readonly promise: string | null
  }[]
}

interface World {
  readonly api: ApiClient
  readonly path: string
  readonly nodes: readonly EnrolledVolumeNode[]
  readonly agents: Map<NodeId, VolumeAgent>
}

let serial = 0

/** A tenant with nodes whose agents do at once what is desired; the first node has the largest pool. */
async function worldWith(count: number): Promise<World> {
  serial += 1
  const { id, token } = await makeTenant(admin, `copies-${serial}`)
  const api = platform.api(token)
  const nodes: EnrolledVolumeNode[] = []
  const agents = new Map<NodeId, VolumeAgent>()
  for (let at = 0; at < count; at += 1) {
    const node = await enrollVolumeNode(platform.baseUrl, api, `c${serial}-${at}`)
    nodes.push(node)
    agents.set(node.nodeId, await connect(node, POOL - at * GIB))
  }
  return { api, path: `/api/v1/tenants/${id}/volumes`, nodes, agents }
}

const connect = (node: EnrolledVolumeNode, poolBytes = POOL) =>
  openVolumeAgent(platform.baseUrl, node, { poolBytes })

async function create({ api, path }: World, parts: object = {}): Promise<Shown> {
  const body = { name: 'data', class: 'replicated', sizeBytes: GIB, replicas: 1, ...parts }
  const answer = await api.post(path, body)
  expect(answer.status, answer.text).toBe(201)
  return Object(answer.body['volume'])
}

const read = async ({ api, path }: World, id: string): Promise<Shown> =>
  Object((await api.get(`${path}/${id}`)).body)

async function volumeWhen(
  world: World,
  id: string,
  what: string,
  is: (volume: Shown) => boolean,
): Promise<Shown> {
  let last: Shown | undefined
  return waitUntil(
    async () => {
      last = await read(world, id)
      return is(last) ? last : undefined
    },
    { what, timeoutMs: 20_000, seen: () => JSON.stringify(last) },
  )
}

const isProtected = ({ phase, reason }: Shown) => phase === 'Ready' && reason === null

function agentOf(world: World, nodeId: string | undefined): VolumeAgent {
  for (const agent of world.agents.values()) if (agent.nodeId === nodeId) return agent
  throw new Error(`no agent of ${nodeId}`)
}

async function eventTypes({ api }: World): Promise<string[]> {
  const items: { type: string }[] = Object((await api.get('/api/v1/events?limit=200')).body['items'])
  return items.map(({ type }) => type).filter((type) => type.startsWith('volume.'))
}

test('a volume becomes ready by the reports of its agents, and reads show what they measure', async () => {
  const world = await worldWith(2)
  const [first, second] = world.nodes.map(({ nodeId }) => nodeId)
  const { id } = await create(world)
  const volume = await volumeWhen(world, id, 'the volume is protected', isProtected)
  expect(volume).toMatchObject({
    primary: { nodeId: first, epoch: 1 },
    usedBytes: 4096,
    measuredAt: '2026-01-01T00:00:00.000Z',
    copies: [
      { nodeId: first, role: 'primary', state: 'current', checkpoint: null, promotable: false },
      {
        nodeId: second,
        role: 'replica',
        state: 'current',
        checkpoint: 3,
        checkpointAge: 2,
        promotable: false,
      },
    ],
  })
  const [primary, replica] = [agentOf(world, first), agentOf(world, second)]
  await waitUntil(() => [...primary.copies.values()][0]?.mayCreate === false, { what: 'the change arrives' })
  expect([...primary.copies.values()]).toMatchObject([
    { volume: id, role: 'primary', desired: 'present', mayCreate: false, peers: [second], sizeBytes: GIB },
  ])
  expect([...replica.copies.values()]).toMatchObject([{ role: 'replica', mayCreate: false, peers: [first] }])
  expect(replica.peers()).toEqual([
    { nodeId: first, address: '10.0.0.1:7844', publicKeys: [world.nodes[0]?.publicKey] },
  ])
  expect(await eventTypes(world)).toContain('volume.ready')
  const list: Shown[] = Object((await world.api.get(world.path)).body['items'])
  expect(list.map(({ usedBytes }) => usedBytes)).toEqual([4096])
  for (const agent of world.agents.values()) agent.close()
  const apart = await create(world, { name: 'apart' })
  expect(apart['usedBytes']).toBeNull()
})

test('no peer is sent the loopback address that a node stated while it was the only one', async () => {
  const world = await worldWith(0)
  const node = await enrollVolumeNode(platform.baseUrl, world.api, `local-${serial}`)
  const agentPeerAddress = '127.0.0.1:7844'
  await openVolumeAgent(platform.baseUrl, node, { poolBytes: 2 * POOL, agentPeerAddress })
  const second = await connect(await enrollVolumeNode(platform.baseUrl, world.api, `second-${serial}`))
  const { id } = await create(world)
  const { primary } = await volumeWhen(world, id, 'the volume is protected', isProtected)
  expect(primary.nodeId).toBe(node.nodeId)
  expect([...second.copies.values()]).toMatchObject([{ role: 'replica', peers: [node.nodeId] }])
  expect(second.peers()).toEqual([])
})

test('a rotation ends after every copy of the anchored volume has a checkpoint from after the cutover', async () => {
  const world = await worldWith(2)
  const { api } = world
  const [first, second] = [`c${serial}-0`, `c${serial}-1`]
  const { id } = await create(world)
  await volumeWhen(world, id, 'the volume is protected', isProtected)
  await deployAnchored(world, id)
  const primary = agentOf(world, world.nodes[0]?.nodeId)
  primary.answer(() => ({}))
  await setCapabilities(
    world,
    primary.nodeId,
    AGENT_CAPABILITIES.filter((name) => name !== CHECKPOINTS),
  )
  for (const phase of ['stage', 'overlap', 'cutover']) {
    const values = phase === 'stage' ? { values: { password: 'the second one' } } : {}
    const answer = await api.post(`${DATABASE}/secrets/rotate`, { phase, ...values })
    expect(answer.status, answer.text).toBe(200)
  }
  const waits = async () =>
    Object((await api.get(`${DATABASE}/secrets/rotation`)).body['credentials'])[0].blockedBy
  const waitsFor = (text: string) => expect.poll(waits, { timeout: 20_000 }).toEqual([text])
  await waitsFor(
    `volume data needs a checkpoint of its primary on ${first}; its agent ${VERSION} takes no checkpoints on request, so update the agent of ${first}`,
  )

  await setCapabilities(world, primary.nodeId, AGENT_CAPABILITIES)
  await waitsFor(`volume data needs a checkpoint of its primary on ${first}`)
  const early = await api.post(`${DATABASE}/secrets/rotate`, { phase: 'retire' })
  expect([early.status, early.codes]).toEqual([409, ['rotation_transition_invalid']])
  expect(early.text).toContain(`needs a checkpoint of its primary on ${first}`)

  const holds = (number: number) =>
    primary.answer(({ epoch, peers }) => ({
      checkpoint: { epoch, number: 8 },
      replicas: peers.map((nodeId) => ({ nodeId, checkpoint: { epoch, number } })),
    }))
  holds(7)
  await waitsFor(`volume data needs checkpoint 8 of ${first} on ${second}`)
  holds(8)
  await expect.poll(waits, { timeout: 20_000 }).toEqual([])
  const retired = await api.post(`${DATABASE}/secrets/rotate`, { phase: 'retire' })
  expect(Object(retired.body['credentials'])).toMatchObject([{ phase: 'idle' }])
})

const DATABASE = '/api/v1/deployments/db'

/** Changes the stored capabilities of an agent, as a session of another version would. */
async function setCapabilities(
  { path }: World,
  nodeId: NodeId,
  capabilities: readonly string[],
): Promise<void> {
  const [tenant = ''] = /[0-9a-f-]{36}/.exec(path) ?? []
  await changeRecord(platform, inTenant(asTenantId(tenant), nodes, nodeId), (node): StoredNode => {
    if (node === undefined) throw new Error(`no node ${nodeId}`)
    return { ...node, agent: { version: VERSION, capabilities: [...capabilities] } }
  })
}

/** A deployment without replicas: it has no container that must prove its version. */
async function deployAnchored({ api }: World, volume: string): Promise<void> {
  const written = await api.put('/api/v1/secrets/resources/db', { values: { password: 'the first one' } })
  expect(written.status, written.text).toBeLessThan(300)
  const made = await api.post('/api/v1/deployments', {
    kind: 'Deployment',
    name: 'db',
    image: platform.image,
    replicas: 0,
    volumes: [{ volume, target: '/data', type: 'volume', readOnly: false }],
    secrets: [{ name: 'DB', vault_path: 'resources/db', anchor: `volume(${volume})` }],
  })
  expect(made.status, made.text).toBe(201)
}

test('a pending volume is placed when a node with a pool appears', async () => {
  const world = await worldWith(0)
  const { id, phase } = await create(world, { replicas: 0 })
  expect(phase).toBe('Pending')
  const node = await enrollVolumeNode(platform.baseUrl, world.api, `late-${serial}`)
  await connect(node)
  const ready = await volumeWhen(world, id, 'the volume is ready', isProtected)
  expect(ready.primary.nodeId).toBe(node.nodeId)
})

test('an agent without the capability gets no copies and refuses volumes by its version', async () => {
  const world = await worldWith(0)
  const node = await enrollVolumeNode(platform.baseUrl, world.api, `old-${serial}`)
  const hello = { storage: { poolBytes: POOL, usedBytes: 0 } }
  const agent = await openRaw(platform.baseUrl, { ...node, generation: 1 }, hello)
  const { id, phase } = await create(world, { replicas: 0 })
  expect(phase).toBe('Pending')
  const { body } = await world.api.get(`${world.path}/${id}/why`)
  expect(JSON.stringify(body['candidates'])).toContain('agent_version')
  expect(agent.heard.filter((message) => 'copies' in message)).toEqual([])
})

test('a resize lasts until every copy has the new size', async () => {
  const world = await worldWith(2)
  const { id } = await create(world)
  const { copies } = await volumeWhen(world, id, 'the volume is protected', isProtected)
  const replica = agentOf(world, copies[1]?.nodeId)
  replica.behave((copy) => ({ ...obey(copy), sizeBytes: GIB }))
  const resized = await world.api.post(`${world.path}/${id}/resize`, { sizeBytes: 2 * GIB })
  expect([resized.status, resized.body['phase']]).toEqual([202, 'Resizing'])
  const primary = agentOf(world, copies[0]?.nodeId)
  await waitUntil(() => [...primary.copies.values()][0]?.sizeBytes === 2 * GIB, { what: 'the size arrives' })
  expect((await read(world, id)).phase).toBe('Resizing')
  replica.behave(obey)
  await volumeWhen(world, id, 'the resize ends', isProtected)
  const tooSmall = await world.api.post(`${world.path}/${id}/resize`, { sizeBytes: 16 * 1024 ** 2 })
  expect(tooSmall.status).toBe(202)
})

test('a deleted volume keeps its name and its quota until every agent has confirmed', async () => {
  const world = await worldWith(2)
  const { api, path } = world
  const { id } = await create(world)
  const { copies } = await volumeWhen(world, id, 'the volume is protected', isProtected)
  const last = agentOf(world, copies[1]?.nodeId)
  last.behave((copy) => (copy.desired === 'removed' ? undefined : obey(copy)))
  const deleted = await api.delete(`${path}/${id}`)
  expect([deleted.status, deleted.body['phase']]).toEqual([202, 'Deleting'])
  const primary = agentOf(world, copies[0]?.nodeId)
  await waitUntil(() => primary.copies.size === 0, { what: 'the first agent is done' })
  expect((await read(world, id)).phase).toBe('Deleting')
  const taken = await api.post(path, { name: 'data', class: 'ephemeral', sizeBytes: GIB })
  expect(taken.codes).toEqual(['volume_spec_invalid'])
  const scaled = await api.send('PATCH', `${path}/${id}`, { replicas: 0 })
  expect([scaled.status, scaled.codes]).toEqual([409, ['volume_not_ready']])
  last.behave(obey)
  await waitUntil(async () => (await api.get(`${path}/${id}`)).status === 404, { what: 'the volume is gone' })
  expect(await eventTypes(world)).toContain('volume.deleted')
  await create(world)
})

test('a copy beyond the desired number is deleted on its node', async () => {
  const world = await worldWith(2)
  const { id } = await create(world)
  const { copies } = await volumeWhen(world, id, 'the volume is protected', isProtected)
  const lowered = await world.api.send('PATCH', `${world.path}/${id}`, { replicas: 0 })
  expect(Object(lowered.body['copies'])).toHaveLength(1)
  const replica = agentOf(world, copies[1]?.nodeId)
  await waitUntil(() => replica.copies.size === 0, { what: 'the copy is deleted and forgotten' })
})

test('a report of another tenant, of no copy, or of a wrong kind changes nothing', async () => {
  const world = await worldWith(1)
  const foreign = await worldWith(1)
  const [node] = world.nodes
  const own = agentOf(world, node?.nodeId)
  own.behave(() => undefined)
  const { id } = await create(world, { replicas: 0 })
  const copy = await waitUntil(() => [...own.copies.values()][0], { what: 'the copy arrives' })
  const send = ({ agent }: VolumeAgent, parts: object) =>
    agent.send({
      type: 'status',
      session: agent.session,
      observations: [],
      copies: [{ ...obey(copy), ...parts }],
    })
  const [stranger] = foreign.agents.values()
  if (stranger === undefined) throw new Error('no agent')
  send(stranger, {})
  send(own, { epoch: 2 })
  send(own, { state: 'removed' })
  send(own, { reason: 'Secret value' })
  send(own, { sizeBytes: -1 })
  send(own, { state: 'failed', reason: 'no_room' })
  const { phase } = await volumeWhen(
    world,
    id,
    'the last report counts',
    ({ reason }) => reason === 'no_room',
  )
  expect(phase).toBe('Materializing')
})

test('a drained primary is handed over to its current replica, and the drained node keeps no copy', async () => {
  const world = await worldWith(3)
  const { id } = await create(world)
  const before = await volumeWhen(world, id, 'the volume is protected', isProtected)
  const [from, to] = before.copies.map(({ nodeId }) => nodeId)
  const drained = await world.api.send('POST', `/api/v1/nodes/${from}/drain`)
  expect(drained.status, drained.text).toBeLessThan(300)
  const after = await volumeWhen(
    world,
    id,
    'the primary moved',
    (volume) =>
      isProtected(volume) &&
      volume.primary.nodeId === to &&
      volume.copies.every(({ nodeId }) => nodeId !== from),
  )
  expect(after.primary.epoch).toBe(2)
  expect([...agentOf(world, to).copies.values()]).toMatchObject([
    {
      role: 'primary',
      epoch: 2,
      from: { epoch: 1, number: 9 },
      mayCreate: false,
    },
  ])
  await waitUntil(() => agentOf(world, from).copies.size === 0, { what: 'the old copy is deleted' })
  await waitUntil(
    async () => Object((await world.api.get(`/api/v1/nodes/${from}`)).body)['draining'] !== true,
    { what: 'the drain ends' },
  )
  expect(await eventTypes(world)).toContain('volume.handed_over')
})

test('a read and its explanation state which copy continues if the primary dies, or why none does', async () => {
  const world = await worldWith(2)
  const [first, second] = world.nodes.map(({ nodeId }) => nodeId)
  const { id } = await create(world)
  const alone = await volumeWhen(world, id, 'the volume is protected', isProtected)
  expect(alone).toMatchObject({
    fencedSince: null,
    promotions: [],
    ifPrimaryDies: {
      nodeId: null,
      message: expect.stringMatching(
        /^If \S+ dies now, nothing continues: \S+ is not promotable; wait until/,
      ),
      copies: [{ nodeId: second, obstacle: 'not_promotable' }],
    },
  })
  const grow = {
    kind: 'grow' as const,
    volume: asVolumeId(id),
    epoch: 1,
    cv: 0,
    nodeId: asNodeId(second ?? ''),
  }
  await agentOf(world, first).configure([grow])
  const isPromised = ({ copies }: Shown): boolean => copies.some(({ promise }) => promise === 'promised')
  const volume = await volumeWhen(world, id, 'the copy is promotable', isPromised)
  const ifPrimaryDies = {
    nodeId: second,
    dataAge: 2,
    message: expect.stringMatching(/^If \S+ dies now, \S+ continues with the data of 2 s ago\.$/),
    copies: [{ nodeId: second, obstacle: 'none' }],
  }
  expect(volume).toMatchObject({ ifPrimaryDies })
  expect((await world.api.get(`${world.path}/${id}/why`)).body).toMatchObject({ ifPrimaryDies })
})

test('a node is promotable only in its epoch, with a copy, within the residency and if agents can promise', async () => {
  const world = await worldWith(4)
  const { nodes: enrolled } = world
  for (const { nodeId } of enrolled) await setCountry(world, nodeId, 'DE')
  const { id } = await create(world, { replicas: 3, residency: { country: 'DE' } })
  const { copies } = await volumeWhen(world, id, 'the volume is protected', isProtected)
  const ids = copies.map(({ nodeId }) => asNodeId(nodeId))
  const [first, second, third = asNodeId(''), fourth] = ids
  const configured = async (
    agent: VolumeAgent,
    ...requests: Omit<ConfigureRequest, 'volume' | 'epoch'>[]
  ) => {
    const sent = requests.map((request) => ({ volume: asVolumeId(id), epoch: 1, ...request }))
    return Object((await agent.configure(sent)).configurations?.[0])
  }
  const primary = agentOf(world, first)
  const grown = ids.slice(1).map((nodeId, cv) => ({ kind: 'grow' as const, cv, nodeId }))
  const promotable = ids.slice(1).toSorted()
  expect(await configured(primary, ...grown)).toMatchObject({ promotable, cv: 3 })
  const shown = (await read(world, id)).copies.map((copy) => copy.promotable)
  expect(shown).toEqual([false, true, true, true])

  await setCountry(world, third, 'FR')
  const isRead = async (cv: number) => (await configured(primary, { kind: 'read' })).cv === cv
  await waitUntil(() => isRead(4), { what: 'the node that breaks the residency is dropped' })
  const removed = await world.api.delete(`${world.path}/${id}/replicas/${fourth}`)
  expect(removed.status, removed.text).toBeLessThan(300)
  expect(await configured(primary, { kind: 'read' })).toMatchObject({ promotable: [second], cv: 5 })
  await setCapabilities(
    world,
    primary.nodeId,
    AGENT_CAPABILITIES.filter((name) => name !== PROMISES),
  )
  await waitUntil(() => isRead(6), { what: 'the primary that cannot promise has no promotable node' })

  const drained = await world.api.send('POST', `/api/v1/nodes/${first}/drain`)
  expect(drained.status, drained.text).toBeLessThan(300)
  await volumeWhen(world, id, 'the primary moved', (volume) => volume.primary.nodeId === second)
  expect(await configured(agentOf(world, second), { kind: 'read' })).toMatchObject({
    epoch: 2,
    primary: second,
    promotable: [],
    cv: 8,
  })
})

/** Changes the stored country of a node, as a session with other labels would. */
async function setCountry({ path }: World, nodeId: NodeId, country: string): Promise<void> {
  const [tenant = ''] = /[0-9a-f-]{36}/.exec(path) ?? []
  await changeRecord(platform, inTenant(asTenantId(tenant), nodes, nodeId), (node): StoredNode => {
    if (node === undefined) throw new Error(`no node ${nodeId}`)
    return { ...node, labels: { ...node.labels, [NODE_COUNTRY]: country } }
  })
}

test('a drain waits for a primary without a current copy', async () => {
  const world = await worldWith(2)
  const { id } = await create(world, { replicas: 0 })
  const { primary } = await volumeWhen(world, id, 'the volume is ready', isProtected)
  const drain = `/api/v1/nodes/${primary.nodeId}`
  await world.api.send('POST', `${drain}/drain`)
  const waits = ['volume data has no current copy on a node that accepts its primary: add a copy of data']
  expect((await world.api.get(drain)).body).toMatchObject({ draining: true, drainBlockedBy: waits })
  const { items } = (await world.api.get('/api/v1/nodes')).body
  expect(Object(items).flatMap((node: JsonObject) => node['drainBlockedBy'] ?? [])).toEqual(waits)
  const added = await world.api.send('PATCH', `${world.path}/${id}`, { replicas: 1 })
  expect(added.status, added.text).toBe(200)
  const moved = await volumeWhen(world, id, 'the primary moved', (volume) => volume.primary.epoch === 2)
  expect(moved.primary.nodeId).not.toBe(primary.nodeId)
  await waitUntil(async () => !('draining' in (await world.api.get(drain)).body), { what: 'the drain ends' })
  expect((await world.api.get(drain)).body).not.toHaveProperty('drainBlockedBy')
})

test('a released node leaves only after its agent has deleted every copy', async () => {
  const world = await worldWith(2)
  const { id } = await create(world)
  const { copies } = await volumeWhen(world, id, 'the volume is protected', isProtected)
  const replica = String(copies[1]?.nodeId)
  const removed = await world.api.delete(`/api/v1/nodes/${replica}`)
  expect(removed.status, removed.text).toBeLessThan(300)
  expect((await world.api.get(`/api/v1/nodes/${replica}`)).status).toBe(200)
  await world.api.send('PATCH', `${world.path}/${id}`, { replicas: 0 })
  await waitUntil(async () => (await world.api.get(`/api/v1/nodes/${replica}`)).status === 404, {
    what: 'the node leaves',
  })
})

test('a node that is removed by force with the only copy leaves the volume lost until it is deleted', async () => {
  const world = await worldWith(1)
  const { id } = await create(world, { replicas: 0 })
  const { primary } = await volumeWhen(world, id, 'the volume is ready', isProtected)
  await world.api.delete(`/api/v1/nodes/${primary.nodeId}?force=true`)
  await volumeWhen(world, id, 'the volume is lost', ({ phase }) => phase === 'Lost')
  expect(await eventTypes(world)).toContain('volume.lost')
  expect((await world.api.delete(`${world.path}/${id}`)).status).toBe(202)
  expect((await world.api.get(`${world.path}/${id}`)).status).toBe(404)
})

test('a deleted tenant is removed after its agents have deleted its data', async () => {
  const world = await worldWith(1)
  const { id } = await create(world, { replicas: 0 })
  await volumeWhen(world, id, 'the volume is ready', isProtected)
  const [tenant = ''] = /[0-9a-f-]{36}/.exec(world.path) ?? []
  const [agent] = world.agents.values()
  expect((await admin.delete(`/api/v1/tenants/${tenant}`)).status).toBeLessThan(300)
  await waitUntil(() => agent?.copies.size === 0, { what: 'the data is deleted' })
  await waitUntil(async () => (await admin.get(`/api/v1/tenants/${tenant}`)).status === 404, {
    what: 'the tenant is gone',
  })
})

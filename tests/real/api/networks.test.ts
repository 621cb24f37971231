// Networks over HTTP on a real etcd with scripted agents: the life cycle and its events, the node rules, use by
// deployments, quotas, and the endings with a node, a claim and a tenant.

import type { NetworkOptions } from '@holdfast/contract'
import { waitUntil } from '@holdfast/testkit'
import type { ApiAnswer, ApiClient } from '@holdfast/testkit/platform/api-client'
import { dumpTenants } from '@holdfast/testkit/platform/dump-keys'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import { makeTenant, type Platform } from '@holdfast/testkit/platform/start-platform'
import { connect, type NetworkAgent, openNetworkAgent } from '@holdfast/testkit/session/network-agent'
import { enrollVolumeNode } from '@holdfast/testkit/session/volume-agent'
import { afterAll, beforeAll, expect, test } from 'vitest'

const NETWORKS = '/api/v1/networks'

let platform: Platform
let admin: ApiClient
const agents: NetworkAgent[] = []

beforeAll(async () => {
  platform = await ownPlatform({ settings: { roles: ['api', 'broker', 'gateway', 'controllers'] } })
  admin = platform.api()
})
afterAll(async () => {
  for (const agent of agents) agent.close()
  await platform.stop()
})

interface Tenant {
  readonly id: string
  readonly api: ApiClient
}

let serial = 0
async function newTenant(): Promise<Tenant> {
  serial += 1
  const { id, token } = await makeTenant(admin, `wired-${serial}`)
  return { id, api: platform.api(token) }
}

async function newNode(
  { api }: Tenant,
  options: Parameters<typeof openNetworkAgent>[2] = {},
): Promise<NetworkAgent> {
  serial += 1
  const node = await enrollVolumeNode(platform.baseUrl, api, `wired-node-${serial}`)
  const agent = await openNetworkAgent(platform.baseUrl, node, options)
  agents.push(agent)
  return agent
}

const networkIn = ({ body }: ApiAnswer): { [member: string]: unknown } => Object(body['network'] ?? body)

async function create({ api }: Tenant, body: object): Promise<string> {
  const answer = await api.post(NETWORKS, body)
  expect(answer.status, answer.text).toBe(201)
  return String(networkIn(answer)['id'])
}

const untilPhase = ({ api }: Tenant, id: string, expected: string) =>
  waitUntil(
    async () => {
      const { phase, reason } = networkIn(await api.get(`${NETWORKS}/${id}`))
      return `${phase} ${reason ?? ''}`.trim() === expected
    },
    { what: `network ${id} is ${expected}` },
  )

const untilGone = ({ api }: Tenant, id: string) =>
  waitUntil(async () => (await api.get(`${NETWORKS}/${id}`)).status === 404, { what: `${id} is gone` })

async function eventsOf({ api }: Tenant, id: string): Promise<string[]> {
  const { body } = await api.get('/api/v1/events?limit=100')
  const items: { type: string; reason: string; subject: { uid: string } }[] = Object(body['items'])
  return items.filter(({ subject }) => subject.uid === id).map(({ type, reason }) => `${type} ${reason}`)
}

/** Expects that a request is rejected with one code at one field, and that no key of any tenant changes. */
async function expectRejected(send: () => Promise<ApiAnswer>, status: number, code: string, field: string) {
  const before = await dumpTenants(platform)
  const answer = await send()
  expect([answer.status, answer.codes, answer.body['field']], answer.text).toEqual([status, [code], field])
  expect(await dumpTenants(platform)).toEqual(before)
}

const deployment = (parts: object) => ({
  kind: 'Deployment',
  name: 'web',
  image: platform.image,
  replicas: 0,
  ...parts,
})

test('a network is created on the only node, becomes ready, fails, is ready again and is deleted', async () => {
  const tenant = await newTenant()
  const node = await newNode(tenant)
  const { api } = tenant
  const options = { name: 'backend', labels: { team: 'shop' }, internal: true }
  const sent = await api.post(NETWORKS, options, { 'idempotency-key': 'once' })
  expect(sent.status, sent.text).toBe(201)
  expect(sent.body['alterations']).toMatchObject([
    { code: 'default_applied', field: 'driver', to: 'bridge' },
    { code: 'network_node_chosen', field: 'nodeId', to: node.nodeId },
  ])
  const network = networkIn(sent)
  const id = String(network['id'])
  const stored = { ...options, driver: 'bridge', nodeId: node.nodeId, attached: [], revision: 1 }
  expect(network).toMatchObject({ ...stored, phase: 'Pending', reason: null })
  expect(networkIn(await api.post(NETWORKS, options, { 'idempotency-key': 'once' }))['id']).toBe(id)
  await untilPhase(tenant, id, 'Ready')
  // The agent is sent the four options and nothing else.
  const wired: NetworkOptions | undefined = [...node.networks.values()][0]?.options
  expect(wired).toEqual({ ...options, driver: 'bridge' })
  const read = await api.get(`${NETWORKS}/${id}`)
  expect([read.headers.get('etag'), networkIn(read)]).toEqual(['"1"', { ...network, phase: 'Ready' }])
  expect((await api.get(NETWORKS)).body['items']).toEqual([networkIn(read)])
  node.behave((one) => ({ id: one.id, state: 'failed', reason: 'name_in_use' }))
  await untilPhase(tenant, id, 'Failed name_in_use')
  node.behave(connect)
  await untilPhase(tenant, id, 'Ready')
  node.behave(() => undefined)
  const deleted = await api.send('DELETE', `${NETWORKS}/${id}`)
  expect([deleted.status, networkIn(deleted)['phase']]).toEqual([202, 'Deleting'])
  expect((await api.send('DELETE', `${NETWORKS}/${id}`)).status).toBe(202)
  // Its name and its slot are in use until the agent has confirmed the removal.
  await expectRejected(() => api.post(NETWORKS, { name: 'backend' }), 409, 'network_exists', 'name')
  node.behave(connect)
  await untilGone(tenant, id)
  expect(await eventsOf(tenant, id)).toEqual([
    'network.created created',
    'network.ready ready',
    'network.failed name_in_use',
    'network.ready ready',
    'network.deleted deleted',
  ])
  const { body } = await api.get('/api/v1/audit')
  const actions = Object(body['items']).map(({ action }: { action: string }) => action)
  expect(actions).toEqual(expect.arrayContaining(['networks:create', 'networks:delete']))
  await create(tenant, { name: 'backend' })
})

test('rejects an unknown, foreign or cordoned node, and options that the agent is not sent', async () => {
  const [tenant, other] = [await newTenant(), await newTenant()]
  const [first, second] = [await newNode(tenant), await newNode(tenant)]
  const foreign = await newNode(other)
  const { api } = tenant
  const post = (parts: object) => () => api.post(NETWORKS, { name: 'backend', ...parts })
  await expectRejected(post({}), 422, 'network_node_required', 'nodeId')
  await expectRejected(post({ nodeId: foreign.nodeId }), 422, 'network_node_not_a_candidate', 'nodeId')
  await expectRejected(
    post({ nodeId: first.nodeId, ipam: {} }),
    422,
    'network_option_unsupported_on_agent',
    'ipam',
  )
  await expectRejected(post({ driver: 'host' }), 422, 'network_option_unsupported_on_agent', 'driver')
  await api.post(`/api/v1/nodes/${first.nodeId}/cordon`, undefined)
  await expectRejected(post({ nodeId: first.nodeId }), 422, 'network_node_not_a_candidate', 'nodeId')
  const id = await create(tenant, { name: 'backend' })
  await untilPhase(tenant, id, 'Ready')
  expect(networkIn(await api.get(`${NETWORKS}/${id}`))['nodeId']).toBe(second.nodeId)
  await api.post(`/api/v1/nodes/${second.nodeId}/cordon`, undefined)
  await expectRejected(
    () => api.post(NETWORKS, { name: 'other' }),
    422,
    'network_node_candidates_unresolvable',
    'nodeId',
  )
  // Another tenant's network and a missing one get the same answer.
  const missing = 'net_01JD0000000000000000000000'
  const answers = [await other.api.get(`${NETWORKS}/${id}`), await other.api.get(`${NETWORKS}/${missing}`)]
  expect(answers.map(({ status, text }) => [status, text.replaceAll(id, missing)])).toEqual([
    [404, answers[1]?.text],
    [404, answers[1]?.text],
  ])
})

test('keeps a network that a deployment names, and rejects unknown networks and networks on two nodes', async () => {
  const tenant = await newTenant()
  const [first, second] = [await newNode(tenant), await newNode(tenant)]
  const { api } = tenant
  const near = await create(tenant, { name: 'near', nodeId: first.nodeId })
  const far = await create(tenant, { name: 'far', nodeId: second.nodeId })
  for (const id of [near, far]) await untilPhase(tenant, id, 'Ready')
  const post = (networks: unknown) => () => api.post('/api/v1/deployments', deployment({ networks }))
  await expectRejected(post(['near', 'gone']), 422, 'network_not_found', 'networks[1]')
  await expectRejected(post(['near', 'far']), 422, 'placement_invalid', 'networks[1]')
  await expectRejected(post(['near', 'near']), 422, 'placement_invalid', 'networks[1]')
  await expectRejected(post(['a', 'b', 'c', 'd', 'e']), 422, 'list_too_long', 'networks')
  const written = await post(['near'])()
  expect(written.status, written.text).toBe(201)
  expect(networkIn(await api.get(`${NETWORKS}/${near}`))['attached']).toEqual(['web'])
  await expectRejected(() => api.send('DELETE', `${NETWORKS}/${near}`), 409, 'network_in_use', 'id')
  const plan = await api.send('DELETE', `${NETWORKS}/${near}?dryRun=true`)
  expect([plan.status, plan.codes]).toEqual([409, ['network_in_use']])
  await api.put('/api/v1/deployments/web', { networks: null })
  const dry = await api.send('DELETE', `${NETWORKS}/${near}?dryRun=true`)
  expect([dry.status, Object(dry.body['plan']).effects], dry.text).toMatchObject([
    200,
    { moves: [], stops: [] },
  ])
  expect((await api.send('DELETE', `${NETWORKS}/${near}`)).status).toBe(202)
  await untilGone(tenant, near)
})

test('of a deletion and a deployment that newly names the network, one is rejected', async () => {
  const tenant = await newTenant()
  await newNode(tenant)
  const { api } = tenant
  for (let round = 0; round < 10; round += 1) {
    const id = await create(tenant, { name: `race-${round}` })
    const body = deployment({ name: `race-${round}`, networks: [`race-${round}`] })
    const [named, deleted] = await Promise.all([
      api.post('/api/v1/deployments', body),
      api.send('DELETE', `${NETWORKS}/${id}`),
    ])
    expect([
      [201, 409],
      [422, 202],
    ]).toContainEqual([named.status, deleted.status])
  }
})

test('explains why a deployment waits for the node of its network, and what would help', async () => {
  const tenant = await newTenant()
  const [first, second] = [await newNode(tenant), await newNode(tenant)]
  const { api } = tenant
  await create(tenant, { name: 'backend', nodeId: first.nodeId })
  await api.post(`/api/v1/nodes/${first.nodeId}/cordon`, undefined)
  await api.post('/api/v1/deployments', deployment({ replicas: 1, networks: ['backend'] }))
  const why = await waitUntil(
    async () => {
      const { body } = await api.get('/api/v1/deployments/web/why')
      return Object(body['candidates']).length === 2 ? body : undefined
    },
    { what: 'both nodes are explained' },
  )
  const candidates: { nodeId: string; refusals: { filter: string; code: string; fix: string }[] }[] = Object(
    why['candidates'],
  )
  const refusalsOf = (nodeId: string) =>
    candidates.find((each) => each.nodeId === nodeId)?.refusals.map(({ filter, code }) => [filter, code])
  expect(refusalsOf(second.nodeId)).toEqual([['network_node', 'not_the_network_node']])
  expect(refusalsOf(first.nodeId)).toEqual([['cordon', 'node_cordoned']])
  const fix = candidates.find((each) => each.nodeId === second.nodeId)?.refusals[0]?.fix
  expect(fix).toBe('Remove backend from networks.')
  await api.post(`/api/v1/nodes/${first.nodeId}/uncordon`, undefined)
  await waitUntil(
    async () => {
      const { body } = await api.get('/api/v1/deployments/web/placements')
      return Object(body['items'])[0]?.nodeId === first.nodeId
    },
    { what: 'the replica is placed on the node of its network' },
  )
})

test('an agent without the capability is sent no network, and gets no container that names one', async () => {
  const tenant = await newTenant()
  const old = await newNode(tenant, { capabilities: ['limits'] })
  const { api } = tenant
  const id = await create(tenant, { name: 'backend' })
  await untilPhase(tenant, id, 'Pending agent_version')
  expect(old.networks.size).toBe(0)
  await api.post('/api/v1/deployments', deployment({ replicas: 1, networks: ['backend'] }))
  const refusals = await waitUntil(
    async () => {
      const { body } = await api.get('/api/v1/deployments/web/why')
      return Object(body['candidates'])[0]?.refusals
    },
    { what: 'the node is explained' },
  )
  expect(refusals).toMatchObject([{ filter: 'agent_version', required: ['networks'] }])
  await api.send('DELETE', '/api/v1/deployments/web')
  await waitUntil(async () => (await api.send('DELETE', `${NETWORKS}/${id}`)).status === 202, {
    what: 'nothing names the network',
  })
  await untilGone(tenant, id)
})

test('the quota of networks is exact under concurrency, and a deleted network frees its slot', async () => {
  const tenant = await newTenant()
  await newNode(tenant)
  await admin.send('PATCH', `/api/v1/tenants/${tenant.id}`, { quotas: { networks: 3 } })
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, at) => tenant.api.post(NETWORKS, { name: `n${at}` })),
  )
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 201, 201, 409, 409, 409, 409, 409])
  const created = answers.filter(({ status }) => status === 201).map((each) => String(networkIn(each)['id']))
  for (const id of created) await untilPhase(tenant, id, 'Ready')
  await expectRejected(
    () => tenant.api.post(NETWORKS, { name: 'more' }),
    409,
    'quota_exceeded',
    'quotas.networks',
  )
  const [first = ''] = created
  await tenant.api.send('DELETE', `${NETWORKS}/${first}`)
  await untilGone(tenant, first)
  await create(tenant, { name: 'more' })
})

test('a released claim ends after the agent has removed the networks of the node', async () => {
  const tenant = await newTenant()
  const node = await newNode(tenant)
  const { api, id: tenantId } = tenant
  const id = await create(tenant, { name: 'backend' })
  await untilPhase(tenant, id, 'Ready')
  node.behave((one) => (one.desired === 'removed' ? undefined : connect(one)))
  const { name } = (await api.get(`/api/v1/nodes/${node.nodeId}`)).body
  const headers = { 'x-tenant-id': tenantId }
  expect((await api.send('DELETE', `/api/v1/nodes/${name}/claim`, undefined, headers)).status).toBe(202)
  await untilPhase(tenant, id, 'Failed node_leaving')
  expect((await api.get(`/api/v1/nodes/${node.nodeId}`)).status).toBe(200)
  node.behave(connect)
  await waitUntil(async () => (await api.get(`/api/v1/nodes/${node.nodeId}`)).status === 404, {
    what: 'the node is released',
  })
  await untilPhase(tenant, id, 'Failed node_removed')
  expect((await api.send('DELETE', `${NETWORKS}/${id}`)).status).toBe(202)
  await untilGone(tenant, id)
})

test('a node that is removed by force leaves its networks failed, and their deletion needs no agent', async () => {
  const tenant = await newTenant()
  const node = await newNode(tenant)
  const { api } = tenant
  const id = await create(tenant, { name: 'backend' })
  await untilPhase(tenant, id, 'Ready')
  await api.send('DELETE', `/api/v1/nodes/${node.nodeId}?force=true`)
  await untilPhase(tenant, id, 'Failed node_removed')
  expect((await api.send('DELETE', `${NETWORKS}/${id}`)).status).toBe(202)
  await untilGone(tenant, id)
  expect((await eventsOf(tenant, id)).at(-1)).toBe('network.deleted unconfirmed')
})

const untilRemoved = ({ id }: Tenant) =>
  waitUntil(async () => (await admin.get(`/api/v1/tenants/${id}`)).status === 404, {
    what: `tenant ${id} is gone`,
  })

test('a deleted tenant ends after the agents have removed its networks', async () => {
  const [tenant, later] = [await newTenant(), await newTenant()]
  const node = await newNode(tenant, {
    report: (one) => (one.desired === 'removed' ? undefined : connect(one)),
  })
  const id = await create(tenant, { name: 'backend' })
  await untilPhase(tenant, id, 'Ready')
  expect((await admin.send('DELETE', `/api/v1/tenants/${tenant.id}`)).status).toBe(202)
  await waitUntil(() => [...node.networks.values()][0]?.desired === 'removed', {
    what: 'the agent is sent the removal',
  })
  // A tenant without nodes, deleted later, is removed by the same loop before this one.
  expect((await admin.send('DELETE', `/api/v1/tenants/${later.id}`)).status).toBe(202)
  await untilRemoved(later)
  expect((await admin.get(`/api/v1/tenants/${tenant.id}`)).status).toBe(200)
  node.behave(connect)
  await untilRemoved(tenant)
})

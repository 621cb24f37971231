// An operator promotes a copy of a volume whose primary is lost, and every refusal of that request. Agents are scripted, and
// no copy reports an expired promise, so the controller promotes nothing.

import { asTenantId, asVolumeId, type JsonObject, type NodeId } from '@holdfast/contract'
import { nodes, pools, type StoredNode } from '@holdfast/server/store/records'
import { inTenant } from '@holdfast/server/store/transaction'
import { waitUntil } from '@holdfast/testkit'
import type { ApiAnswer, ApiClient } from '@holdfast/testkit/platform/api-client'
import { changeRecord } from '@holdfast/testkit/platform/change-record'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import { makeTenant, type Platform } from '@holdfast/testkit/platform/start-platform'
import {
  type EnrolledVolumeNode,
  enrollVolumeNode,
  openVolumeAgent,
  type VolumeAgent,
  vote,
} from '@holdfast/testkit/session/volume-agent'
import { afterAll, beforeAll, expect, test } from 'vitest'

const GIB = 1024 ** 3
const UNKNOWN = 'vol_01JD0000000000000000000000'

let platform: Platform
let api: ApiClient
let path: string
let tenant: string
let volume: string
/** The agents of the primary and of two copies; only the first copy is promotable. */
let [primary, copy, other]: VolumeAgent[] = []
let outside: NodeId
/** The node whose agent is `primary`. */
let lost: EnrolledVolumeNode | undefined

beforeAll(async () => {
  const roles = ['api', 'broker', 'gateway', 'controllers']
  platform = await ownPlatform({ settings: { roles, volumes: { enabled: true } } })
  const made = await makeTenant(platform.api(), 'promotions')
  tenant = made.id
  api = platform.api(made.token)
  path = `/api/v1/tenants/${tenant}/volumes`
  const enrolled = await Promise.all([0, 1, 2].map((at) => enrollVolumeNode(platform.baseUrl, api, `p${at}`)))
  lost = enrolled[0]
  ;[primary, copy, other] = await Promise.all(
    enrolled.map((node, at) => connect(node, (300 - 100 * at) * GIB)),
  )
  outside = (await enrollVolumeNode(platform.baseUrl, api, 'outside')).nodeId
  volume = await create({ name: 'data', class: 'replicated', sizeBytes: GIB, replicas: 2 })
  await waitUntil(
    async () => (await read(volume))['reason'] === null && (await read(volume))['phase'] === 'Ready',
    {
      what: 'the volume is protected',
    },
  )
  const request = { kind: 'grow', volume: asVolumeId(volume), epoch: 1, nodeId: idOf(copy) } as const
  const known = await agentOf(primary).configure([{ ...request, kind: 'read' }])
  const grown = await agentOf(primary).configure([{ ...request, cv: known.configurations?.[0]?.cv ?? 0 }])
  expect(grown.configurations?.[0]?.promotable).toEqual([idOf(copy)])
})
afterAll(() => platform.stop())

const connect = (node: EnrolledVolumeNode, poolBytes: number) =>
  openVolumeAgent(platform.baseUrl, node, { poolBytes })

function agentOf(agent: VolumeAgent | undefined): VolumeAgent {
  if (agent === undefined) throw new Error('the agent is not connected')
  return agent
}
const idOf = (agent: VolumeAgent | undefined): NodeId => agentOf(agent).nodeId

async function create(body: object): Promise<string> {
  const answer = await api.post(path, body)
  expect(answer.status, answer.text).toBe(201)
  return String(Object(answer.body['volume']).id)
}

const read = async (id: string): Promise<JsonObject> => Object((await api.get(`${path}/${id}`)).body)
const promote = (body: object, query = '', id = volume): Promise<ApiAnswer> =>
  api.post(`${path}/${id}/promote${query}`, body)

/** The code, the field and the accepted values of a refusal. */
async function refusal(body: object, id = volume): Promise<string[]> {
  const { status, body: sent } = await promote(body, '', id)
  return [String(status), ...['code', 'field', 'expected'].map((member) => String(sent[member]))]
}

const expectRefusal = async (body: object, expected: readonly string[], about: string, id = volume) => {
  const [status, code, field, accepted] = await refusal(body, id)
  expect([status, code, field]).toEqual(expected)
  expect(accepted).toContain(about)
}

const NOT_NOW = ['409', 'volume_primary_mismatch', 'nodeId']
const NODE = ['422', 'replica_node_invalid', 'nodeId']

test('a promotion of a volume without a lost primary is refused', async () => {
  await expectRefusal({}, NOT_NOW, 'drain its node')
  await expectRefusal({ primaryIsDead: true, force: true }, NOT_NOW, 'drain its node')
  await expectRefusal({}, ['404', 'volume_not_found', 'id'], '', UNKNOWN)
  await expectRefusal({ node: 'p1' }, ['422', 'field_unknown', 'node'], 'nodeId')
  await expectRefusal({ force: 'yes' }, ['422', 'field_type_invalid', 'force'], 'true or false')
  await expectRefusal({ nodeId: outside }, NODE, 'with a copy for a promotion')
  await expectRefusal({ nodeId: idOf(primary) }, NODE, '')
  const objects = await create({ name: 'objects', class: 'object', sizeBytes: GIB })
  await expectRefusal({}, NODE, '', objects)
  const huge = await create({ name: 'huge', class: 'replicated', sizeBytes: 900 * GIB })
  await expectRefusal({}, ['409', 'volume_not_ready', 'id'], '', huge)
})

/** The machine of the primary is lost: its session ends, and the server has declared the node failed. */
async function losePrimary(): Promise<void> {
  agentOf(primary).close()
  await changeRecord(platform, inTenant(asTenantId(tenant), nodes, idOf(primary)), (node): StoredNode => {
    if (node === undefined) throw new Error('no node')
    return { ...node, status: 'failed' }
  })
  await waitUntil(async () => (await read(volume))['phase'] === 'Degraded', { what: 'the primary is lost' })
}

test('a copy replaces a lost primary, and refusals state what keeps each copy from it', async () => {
  await losePrimary()
  await expectRefusal({}, NOT_NOW, 'p1 still has a promise to the primary')
  await expectRefusal(
    { nodeId: idOf(other), force: true },
    NOT_NOW,
    'p2 is not promotable; primaryIsDead true',
  )
  agentOf(copy).promise(undefined)
  await expectRefusal({}, NOT_NOW, 'p1 does not answer')
  agentOf(copy).promise(vote(7, 100_000))
  await expectRefusal({}, NOT_NOW, 'p1 is further behind than the configured limit; force true')
  expect(agentOf(copy).asked.filter(({ method }) => method === 'prepare')).toEqual([])

  const planned = await promote({ force: true }, '?dryRun=true')
  expect(planned.status, planned.text).toBe(200)
  expect(Object(planned.body['plan']).effects.lostData).toEqual([
    {
      volume: 'data',
      reason:
        'Writes of at most the last 100 s before the lease of p0 ended are lost. The number of bytes is unknown; if p0 returns, it keeps them in quarantine.',
      seconds: 100,
    },
  ])
  agentOf(other).promise(vote(3))
  const word = { nodeId: idOf(other), force: true, primaryIsDead: true }
  const outcome = Object((await promote(word, '?dryRun=true')).body['plan'])
  expect([outcome.result.primary.nodeId, outcome.effects.lostData[0].seconds]).toEqual([idOf(other), null])
  expect(
    [copy, other].flatMap((each) => agentOf(each).asked).some(({ method }) => method === 'prepare'),
  ).toBe(false)
  expect((await read(volume))['phase']).toBe('Degraded')

  const promoted = await promote({ force: true })
  expect([promoted.status, promoted.body['phase']], promoted.text).toEqual([202, 'Promoting'])
  expect(promoted.body['primary']).toMatchObject({ nodeId: idOf(copy), epoch: 2 })
  await waitUntil(async () => (await read(volume))['phase'] === 'Ready', { what: 'the copy is the primary' })
  expect(agentOf(copy).copies.get(asVolumeId(volume))).toMatchObject({
    role: 'primary',
    epoch: 2,
    from: { epoch: 1, number: 7 },
    mayCreate: false,
  })
  await expectRefusal({}, NOT_NOW, 'drain its node')
  const events: JsonObject[] = Object((await api.get('/api/v1/events?type=volume.promoted')).body['items'])
  expect(events).toMatchObject([
    { reason: 'forced', data: { fromEpoch: 1, toEpoch: 2, checkpoint: 7, lossSeconds: 100 } },
  ])
  const entries: JsonObject[] = Object((await api.get('/api/v1/audit?limit=50')).body['items'])
  expect(entries.filter(({ action }) => action === 'volumes:promote')).toMatchObject([
    { subject: { name: 'data' }, detail: { nodeId: idOf(copy), force: 'true', primaryIsDead: 'false' } },
  ])
})

test('the former primary reports its data in quarantine, which is published once', async () => {
  if (lost === undefined) throw new Error('the node was not enrolled')
  const { agent } = await connect(lost, 300 * GIB)
  const quarantined = [
    { volume: asVolumeId(volume), epoch: 1, usedBytes: 512, since: '2026-01-01T00:00:00.000Z' },
  ]
  const storage = { poolBytes: 300 * GIB, usedBytes: 0 }
  const report = (pool: object) =>
    agent.send({
      type: 'status',
      session: agent.session,
      observations: [],
      pool: { storage, copies: [], ...pool },
    })
  const published = async (): Promise<JsonObject[]> =>
    Object((await api.get('/api/v1/events?type=volume.divergence_preserved')).body['items'])
  report({ quarantined })
  await waitUntil(async () => (await published()).length > 0, { what: 'the divergence is published' })
  report({ quarantined: [] })
  report({ quarantined: [...quarantined, { ...quarantined[0], epoch: 7 }] })
  const address = inTenant(asTenantId(tenant), pools, lost.nodeId)
  await waitUntil(() => platform.server.store.get(address)?.record.quarantined?.length === 2, {
    what: 'the last report is stored',
  })
  expect(await published()).toMatchObject([
    { count: 1, data: { nodeId: lost.nodeId, epoch: 1, usedBytes: 512 } },
  ])
})

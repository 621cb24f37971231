// The data that former primaries keep, over HTTP: listed, downloaded and deleted, with every refusal. Agents are scripted.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  AGENT_CAPABILITIES,
  asTenantId,
  asVolumeId,
  DIVERGENCES,
  type JsonObject,
  type QuarantinedCopy,
  STREAM_CHANNELS,
} from '@holdfast/contract'
import { frameOf } from '@holdfast/server/gateway/streams/frames'
import { nodes, pools, type StoredNode, volumes } from '@holdfast/server/store/records'
import { inTenant } from '@holdfast/server/store/transaction'
import { makeTempFolder, waitUntil } from '@holdfast/testkit'
import { runCli } from '@holdfast/testkit/cli/run-cli'
import { makeVolumeReady } from '@holdfast/testkit/nodes/ready-volume'
import type { ApiClient } from '@holdfast/testkit/platform/api-client'
import { changeRecord } from '@holdfast/testkit/platform/change-record'
import { dumpTenants } from '@holdfast/testkit/platform/dump-keys'
import { makeToken } from '@holdfast/testkit/platform/set-up'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import { makeTenant, type Platform } from '@holdfast/testkit/platform/start-platform'
import {
  type EnrolledVolumeNode,
  enrollVolumeNode,
  openVolumeAgent,
  type VolumeAgent,
} from '@holdfast/testkit/session/volume-agent'
import { afterAll, beforeAll, expect, test } from 'vitest'

const GIB = 1024 ** 3
const UNKNOWN = 'vol_01JD0000000000000000000000'
const SINCE = '2026-01-01T00:00:00.000Z'
const { stdout } = STREAM_CHANNELS
/** The server accepts one session of a node in a second. */
const REOPEN_MS = 1_100

let platform: Platform
let tenant: string
let api: ApiClient
let developer: string
let viewer: ApiClient
let path: string
let volume: string
let heartbeats: NodeJS.Timeout
let keepers: { node: EnrolledVolumeNode; agent: VolumeAgent }[]

beforeAll(async () => {
  // Without controllers no promotion and no seeding changes the records of this test.
  platform = await ownPlatform({
    settings: { roles: ['api', 'broker', 'gateway'], volumes: { enabled: true } },
  })
  const made = await makeTenant(platform.api(), 'diverged')
  tenant = made.id
  developer = await makeToken(platform.api(), tenant, 'developer')
  api = platform.api(developer)
  viewer = platform.api(await makeToken(platform.api(), tenant, 'viewer'))
  const admin = platform.api(made.token)
  keepers = await Promise.all(
    ['d0', 'd1'].map(async (name) => {
      const node = await enrollVolumeNode(platform.baseUrl, admin, name)
      return { node, agent: await openVolumeAgent(platform.baseUrl, node, { poolBytes: 100 * GIB }) }
    }),
  )
  // A node without heartbeats would be declared unreachable on a slow machine.
  heartbeats = setInterval(() => {
    for (const { agent } of keepers.map((one) => one.agent))
      if (agent.socket.readyState === agent.socket.OPEN)
        agent.send({ type: 'heartbeat', session: agent.session })
  }, 2_000)
  const sent = {
    name: 'data',
    class: 'replicated',
    sizeBytes: GIB,
    replicas: 0,
    nodeId: keeper(1).node.nodeId,
  }
  const created = await api.post(`/api/v1/tenants/${tenant}/volumes`, sent)
  expect(created.status, created.text).toBe(201)
  volume = String(Object(created.body['volume']).id)
  path = `/api/v1/tenants/${tenant}/volumes/${volume}/divergences`
  await makeVolumeReady(platform, tenant, volume)
  await changeRecord(platform, inTenant(asTenantId(tenant), volumes, asVolumeId(volume)), (stored) => {
    if (stored?.primary == null) throw new Error('the volume has no primary')
    return { ...stored, primary: { ...stored.primary, epoch: 3 } }
  })
  await platform.server.store.fresh()
})
afterAll(() => {
  clearInterval(heartbeats)
  return platform.stop()
})

function keeper(at: number) {
  const found = keepers[at]
  if (found === undefined) throw new Error(`no node ${at}`)
  return found
}

const kept = (epoch: number, usedBytes = 512): QuarantinedCopy => ({
  volume: asVolumeId(volume),
  epoch,
  usedBytes,
  since: SINCE,
})

/** Reports the pool of a node, and waits until the report is stored. */
async function report(at: number, pool: object): Promise<void> {
  const { agent, nodeId } = keeper(at).agent
  const sent = { storage: { poolBytes: 100 * GIB, usedBytes: 0 }, copies: [], ...pool }
  agent.send({ type: 'status', session: agent.session, observations: [], pool: sent })
  const { copies, quarantined } = { quarantined: undefined, ...sent }
  await waitUntil(
    () => {
      const stored = platform.server.store.get(inTenant(asTenantId(tenant), pools, nodeId))?.record
      return (
        JSON.stringify([stored?.copies, stored?.quarantined]) === JSON.stringify([copies, quarantined]) ||
        undefined
      )
    },
    { what: 'the report is stored' },
  )
}

const list = async (): Promise<JsonObject> => Object((await viewer.get(path)).body)
/** The entries about divergences, the oldest first. */
async function audited(): Promise<string[]> {
  const { body } = await api.get('/api/v1/audit?limit=100&sort=oldest')
  const entries: { action: string; detail?: { epoch?: string } }[] = Object(body['items'])
  return entries
    .filter(({ action }) => action.endsWith('-divergence'))
    .map(({ action, detail }) => `${action} ${detail?.epoch}`)
}

test('lists what nodes keep, and nodes that could not be observed apart from those that keep nothing', async () => {
  expect(await list()).toMatchObject({
    items: [],
    unobserved: [{ nodeName: 'd1', reason: 'pool_unreadable' }],
  })
  await report(1, { quarantined: [] })
  expect(await list()).toEqual({ items: [], unobserved: [], nextCursor: null })
  await report(0, { quarantined: [kept(1), kept(2, 700)] })
  expect(await list()).toMatchObject({
    items: [
      { epoch: 2, nodeName: 'd0', bytes: 700, keptSince: SINCE, unavailable: null },
      { epoch: 1, nodeName: 'd0', bytes: 512, keptUntil: '2026-01-08T00:00:00.000Z' },
    ],
    unobserved: [],
  })
  const first = Object((await viewer.get(`${path}?limit=1`)).body)
  expect(first.items).toMatchObject([{ epoch: 2 }])
  const rest = Object((await viewer.get(`${path}?limit=1&cursor=${first.nextCursor}`)).body)
  expect([rest.items[0].epoch, rest.nextCursor]).toEqual([1, null])
  await report(0, {
    copies: [{ volume: asVolumeId(volume), epoch: 2, role: 'primary' }],
    quarantined: [kept(1)],
  })
  expect(await list()).toMatchObject({
    items: [{ epoch: 1 }],
    unobserved: [{ nodeName: 'd0', reason: 'not_set_aside' }],
  })
  await report(0, { quarantined: [kept(1), kept(2, 700)] })
})

test('deletes nothing if the data is not the one that the caller has seen', async () => {
  const [seen] = (await list())['items'] as unknown as { epoch: number; revision: number }[]
  const stale = await api.delete(`${path}/2`, { 'if-match': '"7"' })
  expect([stale.status, stale.codes, seen?.epoch]).toEqual([412, ['revision_conflict'], 2])
  expect(stale.body['expected']).toContain(`"${seen?.revision}"`)
  expect(await list()).toMatchObject({ items: [{ epoch: 2 }, { epoch: 1 }] })
  expect(await audited()).toEqual([])
})

const other = (id: string) => `/api/v1/tenants/${tenant}/volumes/${id}/divergences`

test('refuses what it cannot find or reach, and stores nothing', async () => {
  await report(1, { quarantined: [kept(2)] })
  const before = await dumpTenants(platform)
  const refusals = [
    ['GET', other(UNKNOWN), 404, 'volume_not_found', 'id'],
    ['GET', `${other(UNKNOWN)}/1`, 404, 'volume_not_found', 'id'],
    ['DELETE', `${other(UNKNOWN)}/1`, 404, 'volume_not_found', 'id'],
    ['GET', `${path}/one`, 404, 'not_found', 'path'],
    ['GET', `${path}/01`, 404, 'not_found', 'path'],
    ['GET', `${path}/4`, 404, 'not_found', 'path'],
    ['DELETE', `${path}/4`, 404, 'not_found', 'path'],
    ['GET', `${path}/0`, 404, 'not_found', 'path'],
    ['GET', `${path}/1?node=d1`, 404, 'not_found', 'path'],
    ['GET', `${path}/2`, 400, 'query_parameter_invalid', 'node'],
    ['DELETE', `${path}/2`, 400, 'query_parameter_invalid', 'node'],
    ['GET', `${path}/1?tail=1`, 400, 'query_parameter_unknown', 'tail'],
  ] as const
  for (const [method, url, status, code, field] of refusals) {
    const answer = await api.send(method, url)
    expect([method, url, answer.status, answer.body['code'], answer.body['field']]).toEqual([
      ...[method, url, status, code, field],
    ])
  }
  for (const method of ['GET', 'DELETE'] as const) {
    const denied = await viewer.send(method, `${path}/1`)
    expect([denied.status, denied.codes]).toEqual([403, ['permission_denied']])
  }
  const ambiguous = await api.get(`${path}/2`)
  expect(ambiguous.body['expected']).toContain('d0, d1')
  expect(await dumpTenants(platform)).toEqual(before)
  await report(1, { quarantined: [] })
})

/** Replaces the session of d0, by default by one with an agent of this version. */
async function reconnect(capabilities = AGENT_CAPABILITIES): Promise<void> {
  const { node, agent } = keeper(0)
  agent.close()
  await delay(REOPEN_MS)
  const opened = await openVolumeAgent(platform.baseUrl, node, { poolBytes: 100 * GIB, capabilities })
  keepers[0] = { node, agent: opened }
  await platform.server.store.fresh()
}

async function expectUnavailable(reason: string): Promise<void> {
  await platform.server.store.fresh()
  const [item] = Object(await list()).items
  expect(item.unavailable.reason).toBe(reason)
  const before = await dumpTenants(platform)
  for (const method of ['GET', 'DELETE'] as const) {
    const answer = await api.send(method, `${path}/1`)
    expect([answer.status, answer.codes], answer.text).toEqual([503, ['job_node_candidates_unresolvable']])
  }
  expect(await dumpTenants(platform)).toEqual(before)
}

test('a node that is silent or too old refuses downloads and deletions, and stores nothing', async () => {
  await reconnect(AGENT_CAPABILITIES.filter((name) => name !== DIVERGENCES))
  await expectUnavailable('agent_outdated')
  const { nodeId } = keeper(0).node
  keeper(0).agent.close()
  await changeRecord(platform, inTenant(asTenantId(tenant), nodes, nodeId), (node): StoredNode => {
    if (node === undefined) throw new Error('no node')
    return { ...node, status: 'unreachable' }
  })
  await expectUnavailable('node_unreachable')
  await reconnect()
  await waitUntil(async () => Object(await list()).items[0]?.unavailable === null, { what: 'd0 is back' })
})

const download = (query = '') =>
  fetch(`${platform.baseUrl}${path}/1${query}`, { headers: { authorization: `Bearer ${developer}` } })

/** Waits for the stream that the server opens on d0. */
async function opened() {
  const { agent } = keeper(0).agent
  const open = await agent.next('open')
  expect(open).toMatchObject({ kind: 'divergence', divergence: { volume, epoch: 1 } })
  const send = (bytes: Buffer) => agent.socket.send(frameOf(stdout, open.stream, bytes))
  return { ...open, send, end: (how: object) => agent.send({ type: 'end', stream: open.stream, ...how }) }
}

test('forwards an archive unchanged and records who read it', async () => {
  const before = await audited()
  const answer = download()
  const stream = await opened()
  const sent = Buffer.alloc(100_000, 'archive ')
  for (let from = 0; from < sent.length; from += 10_000) stream.send(sent.subarray(from, from + 10_000))
  const response = await answer
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/x-tar'])
  stream.end({ exitCode: 0 })
  expect(Buffer.from(await response.arrayBuffer())).toEqual(sent)
  expect((await audited()).slice(before.length)).toEqual(['volumes:download-divergence 1'])
})

test.each([
  ['fails', { error: 'data_unreadable' }],
  ['ends without a confirmation', {}],
])('a client sees that an archive is incomplete if its node %s', async (_name, how) => {
  const answer = download()
  const stream = await opened()
  stream.send(Buffer.from('the beginning'))
  const response = await answer
  expect(response.status).toBe(200)
  stream.end(how)
  await expect(response.arrayBuffer()).rejects.toThrow()
})

const cli = (...words: readonly string[]) =>
  runCli(words, {
    env: { HOLDFAST_URL: platform.baseUrl, HOLDFAST_TOKEN: developer },
  })

test('the CLI lists what is kept and writes a whole archive to a file', async () => {
  const listed = await cli('volume', 'divergences', 'data', '-o', 'json')
  expect(JSON.parse(listed.stdout).items).toMatchObject([{ epoch: 2 }, { epoch: 1 }])
  const file = join(makeTempFolder('divergence').path, 'lost.tar')
  const running = cli('volume', 'divergences', 'download', 'data', '1', '--to', file)
  const stream = await opened()
  const sent = Buffer.concat([Buffer.alloc(512, 'data'), Buffer.alloc(1024)])
  stream.send(sent)
  stream.end({ exitCode: 0 })
  expect(await running).toMatchObject({
    code: 0,
    stdout: `volume/data: 1.5KiB of epoch 1 written to ${file}\n`,
  })
  expect(readFileSync(file)).toEqual(sent)
})

test('a client that has every byte of an archive sees that its node could not confirm them', async () => {
  const answer = download()
  const stream = await opened()
  // An archive with its end mark, which a program that reads tar would accept as complete.
  const whole = Buffer.concat([Buffer.alloc(512, 'data'), Buffer.alloc(1024)])
  stream.send(whole)
  const { body } = await answer
  if (body === null) throw new Error('the response has no body')
  const reader = body.getReader()
  for (let received = 0; received < whole.length; ) {
    const { done, value } = await reader.read()
    if (done) throw new Error('the archive ended before its node did')
    received += value.length
  }
  stream.end({ error: 'data_unreadable' })
  await expect(reader.read()).rejects.toThrow()
})

test('an archive that cannot be begun is a rejection', async () => {
  for (const [error, status, code] of [
    ['data_not_found', 404, 'not_found'],
    ['data_unreadable', 503, 'job_node_candidates_unresolvable'],
    ['too_many_streams', 429, 'rate_limited'],
  ] as const) {
    const answer = download()
    ;(await opened()).end({ error })
    const response = await answer
    expect([response.status, Object(await response.json()).code]).toEqual([status, code])
  }
})

test('a tenant has two downloads at the same time, and a reader that leaves frees one', async () => {
  const leaving = new AbortController()
  const answers = [
    fetch(`${platform.baseUrl}${path}/1`, {
      headers: { authorization: `Bearer ${developer}` },
      signal: leaving.signal,
    }),
    download(),
  ]
  const streams = [await opened(), await opened()]
  for (const stream of streams) stream.send(Buffer.from('x'))
  await Promise.all(answers)
  const third = await download()
  expect([third.status, third.headers.get('retry-after')]).toEqual([429, '10'])
  leaving.abort()
  // From now on the node sends every archive that it is asked for.
  const { agent } = keeper(0).agent
  agent.socket.on('message', (data, isBinary) => {
    const { type, stream } = isBinary ? { type: '', stream: 0 } : JSON.parse(String(data))
    if (type !== 'open') return
    agent.socket.send(frameOf(stdout, stream, Buffer.from('y')))
    agent.send({ type: 'end', stream, exitCode: 0 })
  })
  const next = await waitUntil(
    async () => {
      const response = await download()
      const text = await response.text()
      return response.status === 200 ? text : undefined
    },
    { what: 'the place is free' },
  )
  expect(next).toBe('y')
  for (const stream of streams) stream.end({ exitCode: 0 })
})

/** Answers the next deletion that d0 is asked for. */
async function answerDeletion(answer: { deleted: boolean } | { error: string }, epoch = 1): Promise<void> {
  const { agent } = keeper(0).agent
  const call = await waitUntil(
    () =>
      agent.heard.find(
        (message) =>
          message.type === 'call' && message.method === 'delete_divergence' && !answered.has(message.id),
      ),
    { what: 'the agent is asked' },
  )
  if (call.type !== 'call') throw new Error('no call')
  answered.add(call.id)
  expect(call.divergence).toEqual({ volume, epoch })
  agent.send({ type: 'answer', id: call.id, ...answer })
}
const answered = new Set<string>()

test('a dry run states what would be lost and asks no node', async () => {
  const before = await dumpTenants(platform)
  const planned = await api.delete(`${path}/1?dryRun=true`)
  expect(planned.status, planned.text).toBe(200)
  expect(Object(planned.body['plan']).effects.lostData).toEqual([
    { volume: 'data', reason: 'Node d0 deletes the data that it kept of epoch 1.' },
  ])
  expect(await dumpTenants(platform)).toEqual(before)
})

test('deletes once the agent confirms it, and a repeated deletion succeeds without a node', async () => {
  const before = await audited()
  const failed = api.delete(`${path}/1`)
  await answerDeletion({ error: 'the pool cannot be read' })
  expect((await failed).codes).toEqual(['job_node_candidates_unresolvable'])
  expect(Object(await list()).items).toHaveLength(2)

  const deleted = api.delete(`${path}/1`)
  await answerDeletion({ deleted: true })
  expect((await deleted).body).toEqual({ epoch: 1, nodeId: keeper(0).node.nodeId, nodeName: 'd0' })
  expect(Object(await list()).items).toMatchObject([{ epoch: 2 }])
  expect((await audited()).slice(before.length)).toEqual([
    'volumes:delete-divergence 1',
    'volumes:delete-divergence 1',
  ])
  const again = await api.delete(`${path}/1`)
  expect([again.status, again.body]).toEqual([200, { epoch: 1 }])
  expect((await api.get(`${path}/1`)).status).toBe(404)
})

test('the CLI deletes once the agent confirms it', async () => {
  const planned = await cli('volume', 'divergences', 'delete', 'data', '2', '--dry-run')
  expect([planned.code, planned.stdout.split('\n')[0]]).toEqual([
    0,
    expect.stringContaining('would be deleted'),
  ])
  const running = cli('volume', 'divergences', 'delete', 'data', '2', '--yes')
  await answerDeletion({ deleted: true }, 2)
  expect(await running).toMatchObject({ code: 0, stdout: 'volume/data: epoch 2 deleted on d0\n' })
  expect((await cli('volume', 'divergences', 'data')).stderr).toBe('no divergences\n')
})

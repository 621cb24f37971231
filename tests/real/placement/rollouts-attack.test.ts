// Streams, exec tickets and deployment actions with clients that disconnect early, send everything at once, or retry. The
// simulated agent receives messages and never answers.

import { once } from 'node:events'
import { connect } from 'node:net'
import { EXEC_SUBPROTOCOL, type NodeId, ownerOf, type TenantId } from '@holdfast/contract'
import { STREAMS_PER_TOKEN } from '@holdfast/server/api/streams/open-streams'
import { readLogs } from '@holdfast/server/operations/deployments/logs/read-logs'
import type { OpenNodeStream } from '@holdfast/server/ports/node-streams'
import { observations, tokens } from '@holdfast/server/store/records'
import { inTenant, placementAt } from '@holdfast/server/store/transaction'
import { realClock as clock } from '@holdfast/server/system-clock'
import { waitUntil } from '@holdfast/testkit'
import { makeNode } from '@holdfast/testkit/nodes/enroll'
import { makeToken } from '@holdfast/testkit/platform/set-up'
import { ownPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import { type OpenAgent, openRaw } from '@holdfast/testkit/session/raw-agent'
import { anAssignment, enroll } from '@holdfast/testkit/session/session-records'
import { openExecClient } from '@holdfast/testkit/streams/exec-client'
import { afterAll, beforeAll, expect, test } from 'vitest'

const EXEC = '/api/v1/deployments/web/exec'
const COMMANDS_PER_TOKEN = 16

let platform: Platform
let tenant: TenantId
let agent: OpenAgent
let own: NodeId
beforeAll(async () => {
  platform = await ownPlatform({ settings: { roles: ['api', 'broker', 'gateway'] } })
  tenant = platform.acme.id as TenantId
  const { store } = platform.server
  const node = await enroll(store, tenant)
  agent = await openRaw(platform.baseUrl, node)
  own = node.nodeId
  await deploy('web', [own])
})
afterAll(async () => {
  agent.close()
  await platform.stop()
})

/** Writes a deployment with a ready replica on each of the nodes, as a controller would have placed it. */
async function deploy(name: string, nodeIds: readonly NodeId[]): Promise<void> {
  const body = { kind: 'Deployment', name, image: platform.image, replicas: nodeIds.length }
  const created = await platform.api(platform.acme.token).post('/api/v1/deployments', body)
  const { uid } = Object(created.body['deployment'])
  const owner = ownerOf('deployment', uid)
  const assignments = nodeIds.map((nodeId, index) => anAssignment(nodeId, { replica: index + 1 }))
  await platform.server.store.transact((transaction) => {
    transaction.put(placementAt(tenant, owner), {
      v: 1,
      owner,
      name,
      revision: 1,
      everAssigned: true,
      assignments,
      reportedRefusals: '',
      reportedPhase: '',
      templates: {},
    })
    for (const { id, nodeId } of assignments)
      transaction.put(inTenant(tenant, observations, id), {
        v: 1,
        assignmentId: id,
        generation: 1,
        seq: 1,
        state: 'ready',
        containerId: 'c',
        startedAt: null,
        exitCode: null,
        restarts: 0,
        reason: '',
        gone: false,
        owner,
        nodeId,
        at: '',
      })
    return { kind: 'commit', result: undefined }
  })
}

async function ticket(token: string): Promise<{ id: string; ticket: string }> {
  const { status, body, text } = await platform.api(token).post(EXEC, { command: ['true'] })
  expect(status, text).toBe(201)
  return { id: String(body['id']), ticket: String(body['ticket']) }
}

const developer = () => makeToken(platform.api(), tenant, 'developer')

const openRequests = () => agent.heard.filter(({ type }) => type === 'open').length
function oneMoreIsRequested(before: number) {
  return waitUntil(() => openRequests() > before, { what: 'the node has received a request' })
}

/** Sends the head of a request and disconnects, at once or after the awaited condition. */
async function leaveAtOnce(head: string, happened?: (before: number) => Promise<unknown>): Promise<void> {
  const { hostname, port } = new URL(platform.baseUrl)
  const before = openRequests()
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  await new Promise<void>((resolve) => socket.write(head, () => resolve()))
  await happened?.(before)
  socket.resetAndDestroy()
}

test('a client that disconnects before its command is opened occupies no slot', async () => {
  const token = await developer()
  for (let at = 0; at < COMMANDS_PER_TOKEN; at += 1) {
    const issued = await ticket(token)
    await leaveAtOnce(
      `GET /api/v1/exec/${issued.id}?ticket=${issued.ticket} HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\n` +
        `upgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: ${Buffer.alloc(16).toString('base64')}\r\n` +
        `sec-websocket-protocol: ${EXEC_SUBPROTOCOL}\r\n\r\n`,
    )
  }
  const { id, ticket: text } = await ticket(token)
  const client = await openExecClient(platform.baseUrl, id, text)
  client.socket.terminate()
})

test('a client that opens all tickets at once gets no more commands than allowed', async () => {
  const token = await developer()
  const issued = []
  for (let at = 0; at < COMMANDS_PER_TOKEN + 8; at += 1) issued.push(await ticket(token))
  const opened = await Promise.allSettled(
    issued.map(({ id, ticket: text }) => openExecClient(platform.baseUrl, id, text)),
  )
  const open = opened.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  for (const { socket } of open) socket.terminate()
  expect(open).toHaveLength(COMMANDS_PER_TOKEN)
})

test('a command without a replica number runs on a reachable one', async () => {
  const lost = await enroll(platform.server.store, tenant, { status: 'failed' })
  await deploy('halved', [lost.nodeId, own])
  const acme = platform.api(platform.acme.token)
  const asking = async (body: object) => {
    await acme.post('/api/v1/deployments/halved/exec', { command: ['true'], ...body })
    const { body: audit } = await acme.get('/api/v1/audit?limit=500')
    const entries = [...Object(audit['items'])].filter(({ action }) => action === 'deployments:exec')
    return entries.filter(({ subject }) => subject.name === 'halved').map(({ detail }) => detail.replica)
  }
  expect(await asking({})).toEqual(['2'])
  expect((await asking({ replica: 1 })).sort()).toEqual(['1', '2'])
})

test.each([
  ['the events begin', '/api/v1/events/stream', undefined],
  ['the logs begin', '/api/v1/deployments/web/logs?follow=true', undefined],
  ['a node has answered', '/api/v1/deployments/web/logs', oneMoreIsRequested],
])('a client that disconnects before %s occupies no slot', async (_what, path, happened) => {
  const token = await developer()
  const headers = { authorization: `Bearer ${token}` }
  for (let at = 0; at < STREAMS_PER_TOKEN; at += 1)
    await leaveAtOnce(`GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n\r\n`, happened)
  const abort = new AbortController()
  const open = async () => {
    const url = `${platform.baseUrl}/api/v1/events/stream`
    return (await fetch(url, { headers, signal: abort.signal })).status
  }
  await waitUntil(async () => (await open()) === 200, {
    what: 'there is a free slot again',
    timeoutMs: 5_000,
  })
  abort.abort()
})

test('a node that does not answer a log request is named, and no client waits forever', async () => {
  const { store } = platform.server
  const [first] = store.list(tokens)
  if (first === undefined) throw new Error('no token')
  const closed: string[] = []
  const openStream: OpenNodeStream = (_tenant, nodeId) => ({
    credit() {},
    room: 0,
    send() {},
    close: () => closed.push(nodeId),
  })
  const caller = {
    tenant,
    token: first.record.id,
    role: 'developer',
    onBehalf: false,
    requestId: 'r',
  } as const
  const readings = { note: () => {} }
  const deps = { store, clock, openStream, readings, silenceMs: 50 }
  const read = await readLogs(deps, caller, 'web', { follow: false, tail: 10, previous: false })
  if (!read.ok) throw new Error('refused')
  const lines: object[] = []
  for await (const line of read.value(new AbortController().signal)) lines.push(line)
  expect(lines).toEqual([{ unavailable: expect.objectContaining({ reason: 'node_unreachable' }) }])
  expect(closed).not.toEqual([])
})

test.each(['drain', 'cordon'])(
  '%s with an Idempotency-Key is executed once, even if nothing changes',
  async (verb) => {
    const acme = platform.api(platform.acme.token)
    const id = await makeNode(platform.baseUrl, acme, `twice-${verb}`)
    const act = (what: string, headers = {}) =>
      acme.send('POST', `/api/v1/nodes/${id}/${what}`, undefined, headers)
    const key = { 'idempotency-key': `again-${verb}` }
    await act(verb)
    const first = await act(verb, key)
    await act('uncordon')
    const again = await act(verb, key)
    expect([again.status, again.body]).toEqual([first.status, first.body])
    expect((await acme.get(`/api/v1/nodes/${id}`)).body['schedulable']).toBe(true)
  },
)

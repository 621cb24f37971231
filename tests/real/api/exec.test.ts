// Exec through the API with real engines and agents, on the server replica that has the node's session and on the other
// server replica.

import { STREAM_CHANNELS } from '@holdfast/contract'
import { waitUntil } from '@holdfast/testkit'
import { dumpKeys } from '@holdfast/testkit/platform/dump-keys'
import { makeToken } from '@holdfast/testkit/platform/set-up'
import { openExecClient, refusedUpgrade } from '@holdfast/testkit/streams/exec-client'
import { type StreamsWorld, startStreamsWorld } from '@holdfast/testkit/streams/streams-world'
import { afterAll, beforeAll, expect, test } from 'vitest'

const { stdin, stdout, stderr, resize } = STREAM_CHANNELS
const MIB = 1024 * 1024
const CANARY = 'canary-argument-73f1'

let world: StreamsWorld
let developer = ''
beforeAll(async () => {
  world = await startStreamsWorld()
  developer = await makeToken(world.platform.api(), world.tenant, 'developer')
  await world.deploy('web')
}, 180_000)
afterAll(() => world.stop())

const EXEC = '/api/v1/deployments/web/exec'
const places = () => [world.platform.baseUrl, world.other.baseUrl]

async function ticket(body: object, token = developer): Promise<{ id: string; ticket: string }> {
  const { status, body: issued, text } = await world.platform.api(token).post(EXEC, body)
  expect(status, text).toBe(201)
  return { id: String(issued['id']), ticket: String(issued['ticket']) }
}

async function run(baseUrl: string, body: object) {
  const issued = await ticket(body)
  return openExecClient(baseUrl, issued.id, issued.ticket)
}

const sh = (script: string, replica = 1) => ({ command: ['sh', '-c', script], replica })

test.each([
  ['the replica that holds the node', 1, 0],
  ['the replica that does not', 1, 1],
  ['the other node, from the first replica', 2, 0],
] as const)('output, error output and exit code, through %s', async (_what, replica, at) => {
  const client = await run(places()[at] ?? '', sh('echo out; echo err >&2; exit 5', replica))
  expect(await client.ended()).toEqual({ exitCode: 5 })
  expect([client.text(stdout), client.text(stderr)]).toEqual(['out\n', 'err\n'])
})

test.each([0, 1])('exec delivers the complete input to the command, through replica %i', async (at) => {
  const client = await run(places()[at] ?? '', { command: ['wc', '-c'], replica: 1 })
  for (let part = 0; part < 64; part += 1) client.send(stdin, Buffer.alloc(60_000, 'x'))
  client.send(stdin, '')
  expect(await client.ended()).toEqual({ exitCode: 0 })
  expect(client.text(stdout).trim()).toBe(String(64 * 60_000))
})

test.each([0, 1])('exec resizes the terminal, through replica %i', async (at) => {
  const client = await run(places()[at] ?? '', { command: ['sh'], replica: 2, tty: true })
  for (const [cols, rows] of [
    [101, 33],
    [80, 24],
  ]) {
    client.send(resize, JSON.stringify({ cols, rows }))
    await waitUntil(
      () => {
        client.send(stdin, 'busybox stty size\n')
        return client.text(stdout).includes(`${rows} ${cols}`)
      },
      { what: 'the size is right', intervalMs: 200 },
    )
  }
  client.send(stdin, 'exit 9\n')
  expect(await client.ended()).toEqual({ exitCode: 9 })
})

test('a client that does not read makes the command wait: memory is bounded at every hop', async () => {
  const before = process.memoryUsage().rss
  const [agent] = world.agents
  const agentBefore = agent?.peakMiB() ?? 0
  const client = await run(world.other.baseUrl, { command: ['busybox', 'yes'], replica: 1 })
  await waitUntil(() => client.received() > MIB, { what: 'it writes' })
  client.socket.pause()
  let steady = 0
  let peak = 0
  // Waits until the memory of this process stops growing, because all buffers between container and client are full.
  await waitUntil(
    () => {
      const { rss } = process.memoryUsage()
      steady = rss <= peak ? steady + 1 : 0
      peak = Math.max(peak, rss)
      return steady > 50
    },
    { what: 'nothing grows', intervalMs: 50 },
  )
  const agentGrew = (agent?.peakMiB() ?? 0) - agentBefore
  console.log(
    `yes against a reader that stopped: this process (two servers, client) grew by ${((peak - before) / MIB).toFixed(1)} MiB,`,
    `the agent's peak by ${agentGrew.toFixed(1)} MiB`,
  )
  expect(peak - before).toBeLessThan(64 * MIB)
  expect(agentGrew).toBeLessThan(64)
  const held = client.received()
  client.socket.resume()
  await waitUntil(() => client.received() > held + MIB, { what: 'it continues' })
  client.socket.terminate()
})

test('an exec ticket works once, on any replica, and for its own client only', async () => {
  const issued = await ticket(sh('true'))
  const path = (id: string, text: string) => `/api/v1/exec/${id}?ticket=${text}`
  const forged = await refusedUpgrade(`${world.platform.baseUrl}${path(issued.id, 'A'.repeat(43))}`)
  expect(forged).toMatchObject({ status: 401, body: { code: 'unauthenticated', field: 'ticket' } })
  const attempts = await Promise.allSettled(
    [0, 1, 0, 1].map((at) => openExecClient(places()[at] ?? '', issued.id, issued.ticket)),
  )
  expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  const again = await refusedUpgrade(`${world.other.baseUrl}${path(issued.id, issued.ticket)}`)
  expect(again).toMatchObject({ status: 401, body: { code: 'unauthenticated', field: 'ticket' } })
})

test('an exec ticket does not outlive the token that requested it, nor does a command', async () => {
  const api = world.platform.api(world.platform.acme.token)
  const tokens = `/api/v1/tenants/${world.tenant}/tokens`
  const created = await api.post(tokens, {
    name: 'short',
    role: 'developer',
    expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
  })
  const token = String(created.body['token'])
  const first = await ticket(sh('sleep 1000'), token)
  const running = await openExecClient(world.other.baseUrl, first.id, first.ticket)
  const second = await ticket(sh('true'), token)
  expect((await api.delete(`${tokens}/${created.body['id']}`)).status).toBe(202)
  const late = await refusedUpgrade(
    `${world.platform.baseUrl}/api/v1/exec/${second.id}?ticket=${second.ticket}`,
  )
  expect(late.body).toMatchObject({ code: 'unauthenticated' })
  expect(await running.ended()).toEqual({ error: 'closed' })
})

test('exec is rejected without permission, and another tenant finds nothing', async () => {
  const viewer = world.platform.api(await makeToken(world.platform.api(), world.tenant, 'viewer'))
  expect((await viewer.post(EXEC, sh('true'))).codes).toEqual(['permission_denied'])
  const stranger = world.platform.api(world.platform.globex.token)
  expect((await stranger.post(EXEC, sh('true'))).codes).toEqual(['deployment_not_found'])
  const api = world.platform.api(developer)
  expect((await api.post(EXEC, sh('true', 7))).codes).toEqual(['field_type_invalid'])
  for (const command of [[], [''], ['a\0b'], ['x'.repeat(9_000)], 'sh'])
    expect((await api.post(EXEC, { command })).codes).toEqual(['field_type_invalid'])
  expect((await api.post(EXEC, { command: Array(300).fill('x') })).codes).toEqual(['list_too_long'])
})

test('a request that is rejected before the upgrade gets an ordinary rejection', async () => {
  const { id, ticket: text } = await ticket(sh('true'))
  const url = `${world.platform.baseUrl}/api/v1/exec/${id}`
  const cases = [
    [await refusedUpgrade(`${url}?ticket=${text}`, 'other.v1'), 'header_invalid', 400],
    [await refusedUpgrade(url), 'unauthenticated', 401],
    [await refusedUpgrade(`${url}?ticket=short`), 'query_parameter_invalid', 400],
    [await refusedUpgrade(`${url}?ticket=${text}&x=1`), 'query_parameter_unknown', 400],
  ] as const
  for (const [answer, code, status] of cases) {
    expect(answer).toMatchObject({ status, body: { code, rejections: [{ code }] } })
  }
  const plain = await fetch(`${url}?ticket=${text}`)
  expect([plain.status, Object(await plain.json()).code]).toEqual([400, 'header_invalid'])
  // The rejected requests have not used up the exec ticket.
  const client = await openExecClient(world.other.baseUrl, id, text)
  expect(await client.ended()).toEqual({ exitCode: 0 })
})

test('the audit log names the program and the length, and no argument is in any record or log', async () => {
  const client = await run(world.other.baseUrl, { command: ['test', CANARY], replica: 1 })
  expect(await client.ended()).toEqual({ exitCode: 0 })
  const { body } = await world.platform.api(developer).get('/api/v1/audit')
  const entries: { [name: string]: unknown }[] = Object(body['items'])
  expect(entries).toContainEqual(
    expect.objectContaining({
      action: 'deployments:exec',
      subject: { kind: 'Deployment', name: 'web' },
      detail: { program: 'test', commandBytes: String(4 + CANARY.length), replica: '1' },
    }),
  )
  expect(entries.map(({ action }) => action)).toContain('deployments:exec-open')
  // The record of an unused exec ticket exists until the ticket expires.
  await ticket({ command: ['test', CANARY] })
  const { root, config } = world.platform
  const dump = await dumpKeys(config.etcd.endpoints[0] ?? '', `${root}/`)
  expect(Object.keys(dump).some((key) => key.includes('/exec/'))).toBe(true)
  const stored = JSON.stringify(dump)
  const logged = [...world.platform.logLines, ...world.other.logLines].join('\n')
  expect(stored + logged).not.toContain(CANARY)
})

test('commands end with a reason when the agent of their node disconnects', async () => {
  const clients = await Promise.all(places().map((place) => run(place, sh('sleep 1000', 2))))
  await world.agents[1]?.stop()
  for (const client of clients) expect(await client.ended()).toEqual({ error: 'node_unreachable' })
})

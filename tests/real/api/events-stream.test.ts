// The event stream over HTTP: ordered, complete across reconnects, bounded for clients that do not read, and ended when
// the server stops or the token is revoked.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { AGENT_PATH, AGENT_SUBPROTOCOL, type ListedEvent, type TenantId } from '@holdfast/contract'
import { STREAMS_PER_TOKEN } from '@holdfast/server/api/streams/open-streams'
import { recordEvent } from '@holdfast/server/operations/record-write'
import { events } from '@holdfast/server/store/records'
import { inTenant } from '@holdfast/server/store/transaction'
import { realClock as clock } from '@holdfast/server/system-clock'
import { waitUntil } from '@holdfast/testkit'
import type { ApiClient } from '@holdfast/testkit/platform/api-client'
import { makeToken } from '@holdfast/testkit/platform/set-up'
import { ownPlatform, sharedPlatform } from '@holdfast/testkit/platform/shared-platform'
import type { Platform } from '@holdfast/testkit/platform/start-platform'
import { afterAll, beforeAll, expect, test } from 'vitest'

const STREAM = '/api/v1/events/stream'

let platform: Platform
let acme: ApiClient
beforeAll(async () => {
  platform = await sharedPlatform()
  acme = platform.api(platform.acme.token)
})
afterAll(() => platform.stop())

interface StreamedEvent {
  readonly id: string | undefined
  readonly event: string | undefined
  readonly data: string | undefined
}

interface Reader {
  readonly response: Response
  readonly received: StreamedEvent[]
  readonly text: string
  /** True if the server closed the stream cleanly. */
  readonly ended: boolean
  stop(): void
}

async function follow(
  token: string,
  { query = '', headers = {} } = {},
  base = platform.baseUrl,
): Promise<Reader> {
  const abort = new AbortController()
  const response = await fetch(`${base}${STREAM}${query}`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
    signal: abort.signal,
  })
  const reader = { response, text: '', ended: false, stop: () => abort.abort() }
  void consume(response, (text) => {
    reader.text += text
  }).then((ended) => {
    reader.ended = ended
  })
  return Object.defineProperty(reader, 'received', { get: () => parse(reader.text) }) as typeof reader &
    Reader
}

async function consume(response: Response, take: (text: string) => void): Promise<boolean> {
  const decoder = new TextDecoder()
  try {
    for await (const bytes of response.body ?? []) take(decoder.decode(bytes, { stream: true }))
    return true
  } catch {
    return false
  }
}

/** Parses a stream into events, like a browser: blocks without data are ignored. */
function parse(text: string): StreamedEvent[] {
  const blocks = text.split('\n\n').slice(0, -1)
  const field = (block: string, name: string) =>
    block
      .split('\n')
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2)
  return blocks
    .map((block) => ({ id: field(block, 'id'), event: field(block, 'event'), data: field(block, 'data') }))
    .filter(({ data }) => data !== undefined)
}

const messagesOf = (reader: Reader): string[] =>
  reader.received.map(({ data }) => String((JSON.parse(data ?? '{}') as Partial<ListedEvent>).message))

let emitted = 0
/** Writes events to the store as the product does, several in one transaction. */
async function emit(tenant: string, messages: readonly string[], data: object = {}): Promise<void> {
  await platform.server.store.transact((transaction) => {
    for (const message of messages) {
      emitted += 1
      recordEvent(transaction, clock, tenant as TenantId, {
        type: 'quota.reached',
        severity: 'warning',
        reason: 'test',
        cause: `${emitted}`,
        message,
        subject: { kind: 'Deployment', name: message.split(' ')[0] ?? '', uid: `dep_${emitted}` },
        data: { ...data },
      })
    }
    return { kind: 'commit', result: undefined }
  })
}

/** Creates a tenant, so that its stream has no events of other tests. */
async function listener(name: string): Promise<{ id: string; token: string }> {
  const { body } = await platform.api().post('/api/v1/tenants', { name })
  const id = String(body['id'])
  return { id, token: await makeToken(platform.api(), id, 'tenant-admin') }
}

const untilReceived = (reader: Reader, count: number) =>
  waitUntil(() => reader.received.length >= count, { what: `${count} events, not ${reader.received.length}` })

test('events arrive as they happen, with cursor, type and the event as lists show it', async () => {
  const { id, token } = await listener('hears')
  const reader = await follow(token)
  expect(reader.response.status).toBe(200)
  expect(reader.response.headers.get('content-type')).toBe('text/event-stream')
  expect(reader.response.headers.get('cache-control')).toBe('no-store')
  const sent = { kind: 'Deployment', name: 'web', image: platform.image }
  expect((await platform.api(token).post('/api/v1/deployments', sent)).status).toBe(201)
  await untilReceived(reader, 1)
  await emit(id, ['one', 'two', 'three'])
  await untilReceived(reader, 4)
  const { body } = await platform.api(token).get('/api/v1/events')
  const listed = Object.values(Object(body['items'])) as ListedEvent[]
  const shown = listed.slice(-4).map((event) => ({ id: event.cursor, event: event.type, data: event }))
  expect(reader.received.map(({ data, ...rest }) => ({ ...rest, data: JSON.parse(data ?? '') }))).toEqual(
    shown,
  )
  reader.stop()
})

test('a stream resumes behind the last event that was read, through any disconnects, none lost and none twice', async () => {
  const { id, token } = await listener('resumes')
  const seen: string[] = []
  let last: string | undefined
  for (let round = 0; round < 6; round += 1) {
    // In rounds after the first, three events exist before the reader connects. One more arrives while it is connected.
    const headers = last === undefined ? {} : { 'last-event-id': last }
    if (round > 0) await emit(id, [`${round}a`, `${round}b`, `${round}c`])
    const reader = await follow(token, { headers })
    await emit(id, [`${round}d`])
    await untilReceived(reader, round === 0 ? 1 : 2)
    // The reader counts as having read one event in the first round and two in later rounds, before it disconnects.
    const read = reader.received.slice(0, round === 0 ? 1 : 2)
    seen.push(...messagesOf({ ...reader, received: read }))
    last = read.at(-1)?.id
    reader.stop()
  }
  const reader = await follow(token, { headers: { 'last-event-id': last ?? '' } })
  await waitUntil(() => messagesOf(reader).includes('5d'), { what: 'the last one' })
  const all = [...seen, ...messagesOf(reader)]
  const expected = Array.from({ length: 6 }, (_, round) =>
    (round === 0 ? ['d'] : ['a', 'b', 'c', 'd']).map((letter) => `${round}${letter}`),
  ).flat()
  expect([...all].sort()).toEqual(expected.sort())
  reader.stop()
})

test('a stream reports its starting cursor, and filters keep its position', async () => {
  const { id, token } = await listener('filters')
  await emit(id, ['before'])
  const reader = await follow(token, { query: '?subject=wanted' })
  await waitUntil(() => reader.text.includes('id: '), { what: 'the starting cursor' })
  await emit(id, ['other 1', 'wanted 1', 'other 2'])
  await untilReceived(reader, 1)
  expect(messagesOf(reader)).toEqual(['wanted 1'])
  reader.stop()
  const all = await follow(token, { query: '?after=0-0&severity=warning' })
  await untilReceived(all, 4)
  expect(messagesOf(all)).toContain('before')
  all.stop()
})

test('a stream is limited to one tenant and to roles that may read events', async () => {
  const { id, token } = await listener('apart')
  const other = await listener('elsewhere')
  const reader = await follow(token)
  await emit(other.id, ['foreign'])
  await emit(id, ['own'])
  await untilReceived(reader, 1)
  expect(messagesOf(reader)).toEqual(['own'])
  expect(reader.text).not.toContain('foreign')
  reader.stop()
  const { body } = await platform.api(other.token).get('/api/v1/events')
  const cursor = (Object.values(Object(body['items'])) as ListedEvent[])[0]?.cursor
  for (const query of ['?after=0-0', `?after=${cursor}`, '?subject=foreign&after=0-0']) {
    const again = await follow(token, { query })
    await emit(other.id, ['foreign'])
    await emit(id, ['foreign in name alone'])
    await waitUntil(() => messagesOf(again).includes('foreign in name alone'), { what: 'its own' })
    expect(messagesOf(again)).not.toContain('foreign')
    again.stop()
  }
  for (const query of ['?after=then', '?colour=red'])
    expect((await acme.get(`${STREAM}${query}`)).status).toBe(400)
  expect((await acme.get(STREAM, { 'last-event-id': 'then' })).body['field']).toBe('Last-Event-ID')
  expect((await platform.api('hf_no').get(STREAM)).codes).toEqual(['unauthenticated'])
})

/** Deletes a tenant's oldest events, as retention does. */
async function forgetOldest(tenant: string, count: number): Promise<void> {
  const { store } = platform.server
  await store.fresh()
  const oldest = [...store.keysOf(events, tenant as TenantId)]
    .sort((left, right) => left.createRevision - right.createRevision)
    .slice(0, count)
  await store.transact((transaction) => {
    for (const each of oldest) transaction.delete(inTenant(tenant as TenantId, events, each.id))
    return { kind: 'commit', result: undefined }
  })
}

test('a cursor that retention has deleted is reported as truncated, in the stream and in the list', async () => {
  const { id, token } = await listener('forgets')
  const cursors = async (): Promise<string[]> => {
    const { body } = await platform.api(token).get('/api/v1/events')
    return (Object.values(Object(body['items'])) as ListedEvent[]).map(({ cursor }) => cursor)
  }
  for (const message of ['a', 'b', 'c', 'd']) await emit(id, [message])
  const before = await cursors()
  const [first = ''] = before
  await forgetOldest(id, before.length - 2)
  const [oldest = ''] = await cursors()
  const truncated = { after: first, oldest }
  const reader = await follow(token, { headers: { 'last-event-id': first } })
  await untilReceived(reader, 3)
  expect(reader.received[0]).toEqual({ id: undefined, event: 'truncated', data: JSON.stringify(truncated) })
  expect(messagesOf(reader).slice(1)).toEqual(['c', 'd'])
  const listed = await platform.api(token).get(`/api/v1/events?after=${first}`)
  expect(listed.body['truncated']).toEqual(truncated)
  const page = await platform.api(token).get(`/api/v1/events?after=${oldest}`)
  expect(page.body['truncated']).toBeUndefined()
  // The reader has read the events that are now deleted, so its stream reports no gap.
  await forgetOldest(id, 10)
  await emit(id, ['e'])
  await untilReceived(reader, 4)
  expect(messagesOf(reader).slice(1)).toEqual(['c', 'd', 'e'])
  reader.stop()
  const strange = await follow(token, { headers: { 'last-event-id': '999999999-0' } })
  await untilReceived(strange, 1)
  expect(strange.received[0]?.event).toBe('truncated')
  strange.stop()
})

test('a token may open a limited number of streams, and closing one frees its slot', async () => {
  const { token } = await listener('greedy')
  const readers = await Promise.all(Array.from({ length: STREAMS_PER_TOKEN }, () => follow(token)))
  expect(readers.map(({ response }) => response.status)).toEqual(Array(STREAMS_PER_TOKEN).fill(200))
  const refused = await platform.api(token).get(STREAM)
  expect([refused.status, refused.codes]).toEqual([429, ['rate_limited']])
  expect(refused.headers.get('retry-after')).toBe('1')
  expect((await platform.api(token).get('/api/v1/events')).status, 'other requests still work').toBe(200)
  readers[0]?.stop()
  let again: Reader | undefined
  await waitUntil(
    async () => {
      again = await follow(token)
      return again.response.status === 200
    },
    { what: 'room for one more' },
  )
  for (const reader of [...readers, again]) reader?.stop()
})

test('a revoked token ends its stream', { timeout: 30_000 }, async () => {
  const { id, token } = await listener('revoked')
  const admin = platform.api(await makeToken(platform.api(), id, 'tenant-admin'))
  const reader = await follow(token)
  expect((await admin.delete(`/api/v1/tenants/${id}/tokens/tok_${token.split('_')[1]}`)).status).toBe(202)
  await waitUntil(() => reader.ended, { what: 'the end of the stream', timeoutMs: 20_000 })
})

/**
 * Requests the stream and never reads. packages/server/src/api/streams/event-stream.test.ts checks the buffered amount.
 */
function standStill(token: string): Promise<Socket> {
  const { host, port } = platform.config.listen
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port }, () => {
      socket.write(`GET ${STREAM}?after=0-0 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`)
      socket.pause()
      resolve(socket)
    })
    socket.on('error', reject)
  })
}

test('readers that stop reading do not delay other readers, however many events there are', {
  timeout: 60_000,
}, async () => {
  const { id, token } = await listener('stands-still')
  const sockets = await Promise.all(Array.from({ length: 8 }, () => standStill(token)))
  const block = 'x'.repeat(100_000)
  for (let count = 0; count < 100; count += 1) await emit(id, [`part ${count}`], { block })
  const reader = await follow(token, { query: '?after=0-0' })
  await waitUntil(() => messagesOf(reader).includes('part 99'), { what: 'a reader receives everything' })
  reader.stop()
  for (const socket of sockets) socket.destroy()
})

/** Sends the upgrade request of an agent without its last line. */
async function beginUpgrade(listen: { readonly host: string; readonly port: number }) {
  const socket = connect(listen)
  let received = ''
  socket.on('data', (data) => {
    received += data
  })
  socket.on('error', () => {})
  const headers = ['Host: x', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']
  const agent = [
    `Sec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}`,
    `Sec-WebSocket-Protocol: ${AGENT_SUBPROTOCOL}`,
  ]
  socket.write(`${[`GET ${AGENT_PATH} HTTP/1.1`, ...headers, ...agent].join('\r\n')}\r\n`)
  await once(socket, 'connect')
  return { socket, received: () => received }
}

test('the server stops while readers are connected, and closes each stream cleanly', async () => {
  const own = await ownPlatform({ settings: { roles: ['api', 'broker', 'gateway'] } })
  const reader = await follow(own.acme.token, {}, own.baseUrl)
  const accepted: Socket[] = []
  own.server.http.server.on('connection', (socket: Socket) => accepted.push(socket))
  // A connection without a request, like an idle connection in a client's pool.
  const silent = connect(own.config.listen)
  await once(silent, 'connect')
  // A request that is never complete, and an agent whose upgrade arrives when the server is already stopping.
  const [unfinished, late] = [await beginUpgrade(own.config.listen), await beginUpgrade(own.config.listen)]
  const areRead = (): boolean => accepted.filter(({ bytesRead }) => bytesRead > 0).length === 2
  await waitUntil(areRead, { what: 'the server has read both beginnings' })
  const stopped = own.server.close()
  late.socket.write('\r\n')
  // The unfinished request would last five minutes if the server waited for its end.
  await stopped
  expect([late.received(), unfinished.received()]).toEqual([expect.stringContaining('HTTP/1.1 503 '), ''])
  await waitUntil(() => reader.ended, { what: 'the end' })
  expect(reader.text).toContain(': stream ended by the server')
})

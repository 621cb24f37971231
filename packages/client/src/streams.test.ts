// Tests streams over real sockets that break at awkward places, such as in the middle of a line.

import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createClient } from './client.ts'
import type { ClientRuntime } from './connection.ts'
import { createMessageParser } from './event-source.ts'
import { decodeExecFrame, encodeResize, encodeStdin } from './exec-frames.ts'
import type { EventStreamItem } from './follow-events.ts'
import type { LogStreamItem } from './read-logs.ts'
import { networkError, scriptRuntime } from './scripted-runtime.fixture.ts'

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

async function serve(
  respond: (url: URL, lastEventId: string, response: ServerResponse) => void,
): Promise<string> {
  server = createServer((request, response) =>
    respond(
      new URL(request.url ?? '/', 'http://h'),
      String(request.headers['last-event-id'] ?? ''),
      response,
    ),
  )
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const eventText = (number: number): string => {
  const event = {
    id: `evt_${number}`,
    type: 'deployment.created',
    tenant: 't',
    time: '2026-01-01T00:00:00.000Z',
    severity: 'info',
    subject: { kind: 'Deployment', name: 'wéb', uid: 'u' },
    reason: '',
    message: 'é\n',
    data: {},
  }
  return `: heartbeat\nid: ${number}-0\nevent: deployment.created\ndata: ${JSON.stringify(event)}\n\n`
}

describe('server-sent messages', () => {
  test('are parsed the same for any chunk boundaries', () =>
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('data: a', 'data:b', 'data', 'id: 7', 'event: x', ': c', '', 'odd: z'), {
          maxLength: 20,
        }),
        fc.constantFrom('\n', '\r\n', '\r'),
        fc.array(fc.nat(200), { maxLength: 8 }),
        (lines, end, cuts) => {
          const text = `${[...lines, '', 'data: last', '', ''].join(end)}`
          const places = [0, ...cuts.map((cut) => cut % text.length).sort((a, b) => a - b), text.length]
          const cutParser = createMessageParser()
          const pieces = places.slice(1).flatMap((to, index) => cutParser.push(text.slice(places[index], to)))
          expect(pieces).toEqual(createMessageParser().push(text))
        },
      ),
    ))

  test('without their closing empty line are dropped', () =>
    expect(createMessageParser().push('id: 1\ndata: a\n')).toEqual([]))
})

describe('followed events', () => {
  test('are neither lost nor repeated over a hundred broken connections', async () => {
    const total = 300
    let connections = 0
    const url = await serve((_url, lastEventId, response) => {
      connections += 1
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const from = Number(lastEventId.split('-')[0])
      const rest = Array.from({ length: total - from }, (_, index) => eventText(from + index + 1)).join('')
      if (connections > 100) return void response.write(rest)
      const bytes = Buffer.from(rest)
      const cut = (connections * 97) % 700
      response.write(bytes.subarray(0, cut), () => response.destroy())
    })
    const client = createClient({ baseUrl: url, runtime: { wait: async () => {} } })
    const end = new AbortController()
    const seen: string[] = []
    let cuts = 0
    for await (const item of client.followEvents({ after: '0-0', signal: end.signal })) {
      if (item.kind === 'event') seen.push(item.cursor)
      else cuts += 1
      if (seen.length === total) end.abort()
    }
    expect(seen).toEqual(Array.from({ length: total }, (_, index) => `${index + 1}-0`))
    expect(cuts).toBeGreaterThan(50)
  })

  test('end at a rejection', async () => {
    const rejection = { code: 'unauthenticated', field: 'a', received: '', expected: '', why: '', doc: '' }
    const url = await serve((_url, _id, response) => {
      response.writeHead(401, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ ...rejection, rejections: [rejection] }))
    })
    const items: EventStreamItem[] = []
    for await (const item of createClient({ baseUrl: url }).followEvents({ after: '0-0' })) items.push(item)
    expect(items).toEqual([
      { kind: 'failed', failure: { kind: 'rejected', status: 401, rejections: [rejection] } },
    ])
  })

  test('end at a foreign page without a retry', async () => {
    let requests = 0
    const url = await serve((_url, _id, response) => {
      requests += 1
      response
        .writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
        .end('<html>Please log in</html>')
    })
    const client = createClient({ baseUrl: url, runtime: { wait: async () => {} } })
    const items: (EventStreamItem | LogStreamItem)[] = []
    // The loop ends after four items, because a client that wrongly retries would never end the stream.
    for await (const item of client.followEvents({ after: '0-0' })) if (items.push(item) > 3) break
    for await (const item of client.logs('web', { follow: true })) items.push(item)
    const reason = 'the response is not from a Holdfast server of this version (text/html)'
    const failed = { kind: 'failed', failure: { kind: 'unexpected', status: 200, reason } }
    expect(items).toEqual([failed, failed])
    expect(requests).toBe(2)
  })

  test('end after repeated connection failures', async () => {
    const client = createClient({ baseUrl: 'http://127.0.0.1:9', runtime: { wait: async () => {} } })
    const items: EventStreamItem[] = []
    for await (const item of client.followEvents({ after: '0-0' })) items.push(item)
    expect(items).toMatchObject([{ kind: 'failed', failure: { kind: 'unreachable' } }])
  })
})

describe('followed logs', () => {
  const line = { time: 't', replica: 1, node: 'n1', stream: 'stdout', text: 'hellö' }
  const read = async (url: string, runtime: Partial<ClientRuntime> = {}): Promise<LogStreamItem[]> => {
    const items: LogStreamItem[] = []
    const client = createClient({ baseUrl: url, runtime: { wait: async () => {}, ...runtime } })
    for await (const item of client.logs('web', { follow: true, tail: 5 })) items.push(item)
    return items
  }
  const refuse = (response: ServerResponse, status: number, code: string): void => {
    const rejection = { code, field: 'name', received: '', expected: '', why: '', doc: '' }
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ ...rejection, rejections: [rejection] }))
  }
  const textsOf = (items: readonly LogStreamItem[]) =>
    items.map((item) => item.kind === 'line' && Object(item.line).text)

  test('include skipped lines and unreachable replicas', async () => {
    const skipped = { skipped: { replica: 1, lines: 3, bytes: 9 } }
    const unavailable = { unavailable: { replica: 2, node: 'n2', reason: 'unreachable' } }
    const requests: string[] = []
    const url = await serve((requested, _id, response) => {
      requests.push(`${requested.pathname}${requested.search}`)
      // The second request is answered as if the deployment was deleted.
      if (requests.length > 1) return refuse(response, 404, 'deployment_not_found')
      const text = [line, skipped, unavailable].map((each) => `${JSON.stringify(each)}\n`).join('')
      const bytes = Buffer.from(text)
      response.write(bytes.subarray(0, 66))
      response.end(bytes.subarray(66))
    })
    expect(await read(url)).toEqual(
      [line, skipped, unavailable].map((each) => ({ kind: 'line', line: each })),
    )
    expect(requests[0]).toBe('/api/v1/deployments/web/logs?follow=true&tail=5')
  })

  test('resume after a broken connection without repeating lines', async () => {
    const at = (second: number, text: string) =>
      `${JSON.stringify({ ...line, time: `2026-01-01T00:00:0${second}Z`, text })}\n`
    const requests: string[] = []
    const url = await serve((requested, _id, response) => {
      requests.push(requested.search)
      if (requests.length === 1)
        response.write(`${at(1, 'a')}${at(2, 'b')}${at(3, 'half').slice(0, 30)}`, () => response.destroy())
      else if (requests.length === 2) response.end(`${at(2, 'b')}${at(3, 'c')}`)
      else refuse(response, 404, 'deployment_not_found')
    })
    expect(textsOf(await read(url))).toEqual(['a', 'b', 'c'])
    expect(requests.slice(0, 2)).toEqual([
      '?follow=true&tail=5',
      '?follow=true&tail=10000&since=2026-01-01T00%3A00%3A02Z',
    ])
  })

  test('resume when the server is back after refused connections', async () => {
    const requests: string[] = []
    const url = await serve((requested, _id, response) => {
      requests.push(requested.search)
      if (requests.length === 1) response.end(`${JSON.stringify({ ...line, text: 'before' })}\n`)
      else if (requests.length === 2)
        response.end(`${JSON.stringify({ ...line, time: 'u', text: 'after' })}\n`)
      else refuse(response, 401, 'unauthenticated')
    })
    let refused = 0
    const fetchOrRefuse: ClientRuntime['fetch'] = (address, init) => {
      if (requests.length !== 1 || refused === 4) return fetch(address, init)
      refused += 1
      return Promise.reject(networkError('ECONNREFUSED'))
    }
    const items = await read(url, { fetch: fetchOrRefuse })
    expect(textsOf(items)).toEqual(['before', 'after', false])
    // A revoked token ends the stream with a failure.
    expect(items.at(-1)).toMatchObject({ kind: 'failed', failure: { kind: 'rejected', status: 401 } })
    expect(refused).toBe(4)
  })

  test('of a silent deployment are followed without a limit of attempts', async () => {
    let requests = 0
    const url = await serve((_url, _id, response) => {
      requests += 1
      if (requests > 30) return refuse(response, 401, 'unauthenticated')
      response.write('\n', () => response.destroy())
    })
    // Fetch ends a stream after five minutes without data; this clock advances five minutes per call.
    let minutes = 0
    const now = () => {
      minutes += 5
      return minutes * 60_000
    }
    const items = await read(url, { now })
    expect(items).toMatchObject([{ kind: 'failed', failure: { kind: 'rejected' } }])
    expect(requests).toBe(31)
  })

  test('report a connection that keeps breaking', async () => {
    const url = await serve((_url, _id, response) => {
      response.write(`${JSON.stringify(line)}\n{"half`, () => response.destroy())
    })
    const client = createClient({ baseUrl: url, runtime: { wait: async () => {} } })
    const items: LogStreamItem[] = []
    for await (const item of client.logs('web', { follow: true })) items.push(item)
    expect(items).toMatchObject([{ kind: 'line' }, { kind: 'failed', failure: { kind: 'unreachable' } }])
  })
})

test('a stream that could not be opened leaves no timer, which would keep the process alive', async () => {
  vi.useFakeTimers()
  const { runtime } = scriptRuntime(networkError('ECONNREFUSED'))
  const client = createClient({ baseUrl: 'http://platform', runtime })
  for await (const item of client.logs('web', {})) expect(item.kind).toBe('failed')
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

describe('exec frames', () => {
  test('have the channel in their first byte', () => {
    expect([...encodeStdin(new Uint8Array([65]))]).toEqual([0, 65])
    const resize = encodeResize({ cols: 80, rows: 24 })
    expect([resize[0], new TextDecoder().decode(resize.subarray(1))]).toEqual([3, '{"cols":80,"rows":24}'])
    expect(decodeExecFrame(new Uint8Array([2, 66]))).toEqual({ kind: 'stderr', bytes: new Uint8Array([66]) })
    const exit = new TextEncoder().encode('_{"exitCode":3}')
    exit[0] = 4
    expect(decodeExecFrame(exit)).toEqual({ kind: 'exit', exitCode: 3 })
    expect(decodeExecFrame(new Uint8Array([9]))).toBeUndefined()
  })

  test('are exchanged at a WebSocket address of the server', () =>
    expect(createClient({ baseUrl: 'https://h/' }).execUrl({ id: 'x', ticket: 'a b' })).toBe(
      'wss://h/api/v1/exec/x?ticket=a%20b',
    ))
})

// A sender who has proven nothing gets little memory and time: its body is small and arrives soon, or is not read.

import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { object, string } from '@holdfast/contract'
import pino from 'pino'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { createHeadCheck, HEAD_PROOF, proveHead, proveRequest } from '../gateway/peers/cluster-proof.ts'
import { secret } from '../ports/secret.ts'
import type { OpenEndpoint } from './endpoint.ts'
import { createHttpServer, type HttpServerOptions } from './http-server.ts'
import { UNPROVEN_MS } from './internal-calls.ts'

const KEY = secret('a-key-of-at-least-thirty-two-characters')
const clock = { now: () => Date.now() }
const MIB = 1024 * 1024
const ENROLL = '/api/v1/nodes/enroll'
const VIEW = '/internal/view'
afterEach(() => void vi.useRealTimers())

const enroll: OpenEndpoint = {
  ...{ method: 'POST', path: ENROLL, operation: 'enrollNode', credential: 'joinToken', summary: '' },
  ...{ query: [], headers: [], codes: [], body: object({ joinToken: string() }) },
  success: { status: 201, shape: object({}) },
  handle: async () => ({ ok: true, value: { status: 201, body: {} } }),
}

async function openServer(): Promise<number> {
  const gate: HttpServerOptions['gate'] = {
    authenticate: async () => Promise.reject(new Error('not asked')),
    rateLimit: { admit: () => 0, charge: () => {} },
    holdBack: async () => {},
    findTenant: () => undefined,
    fresh: async () => {},
    isLive: () => true,
    noteUse: () => {},
  }
  const app = createHttpServer({
    ...{ endpoints: [enroll], pages: [], gate, publicUrl: 'http://127.0.0.1', newRequestId: () => 'req_1' },
    audit: { rejected: () => {} },
    ...{ log: pino({ level: 'silent' }), bodyBytes: MIB, bodyDepth: 32, headerBytes: 16_384 },
    metrics: { observeRequest: () => {}, countRejection: () => {} },
    internalCalls: {
      node: async ({ body }) => ({ status: 200, body: JSON.stringify({ bytes: body.length }) }),
      judgeHead: createHeadCheck(KEY, clock),
    },
    connections: {
      ...{ maxConnections: 100, halfOpenPerAddress: 100, headersMs: 10_000, requestMs: 30_000 },
      ...{ isExempt: () => true, onRefused: () => {} },
    },
    clientAddress: () => '',
    isStopping: () => false,
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  onTestFinished(() => app.close())
  return (app.server.address() as AddressInfo).port
}

interface Sent {
  readonly path: string
  readonly headers?: { readonly [name: string]: string }
  /** The stated length of the body, and what of it is sent. */
  readonly bytes: number
  readonly body?: string
}

/** The status of the response to a request whose body never arrives completely, unless all of it is sent. */
async function statusOf(port: number, { path, headers = {}, bytes, body = '' }: Sent): Promise<number> {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  onTestFinished(() => void socket.destroy())
  const all = { host: '127.0.0.1', 'content-length': String(bytes), ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`)
  const [answer] = await once(socket, 'data')
  return Number(String(answer).slice(9, 12))
}

/** A call of another server replica, with the proof of its head or without. */
function call(body: string, withHead: boolean): Sent & Required<Pick<Sent, 'headers'>> {
  const authorization = proveRequest(KEY, clock, { method: 'POST', path: VIEW, body })
  const bytes = body.length
  const proof = proveHead(KEY, { method: 'POST', path: VIEW, authorization, bytes })
  return { path: VIEW, bytes, body, headers: { authorization, ...(withHead ? { [HEAD_PROOF]: proof } : {}) } }
}

test('a large body is refused before it is read, unless its head is proven', async () => {
  const port = await openServer()
  const large = 'x'.repeat(MIB)
  expect(await statusOf(port, { path: ENROLL, bytes: MIB })).toBe(413)
  expect(await statusOf(port, { path: VIEW, bytes: MIB })).toBe(401)
  expect(await statusOf(port, { path: VIEW, bytes: 2 })).toBe(401)
  expect(await statusOf(port, { ...call(large, false), body: '' })).toBe(413)
  expect(await statusOf(port, call(large, true))).toBe(200)
  expect(await statusOf(port, call('{}', false))).toBe(200)
})

test('a proof of another head, an old one and none are refused', async () => {
  const port = await openServer()
  const { headers, ...sent } = call('{}', true)
  expect(await statusOf(port, { ...sent, bytes: 3, headers })).toBe(401)
  const old = proveRequest(
    KEY,
    { now: () => Date.now() - 60_000 },
    { method: 'POST', path: VIEW, body: '{}' },
  )
  expect(await statusOf(port, { path: VIEW, bytes: 2, headers: { authorization: old } })).toBe(401)
  expect(await statusOf(port, { path: VIEW, bytes: 2, headers: { authorization: 'Cluster x' } })).toBe(401)
})

test('a body that does not arrive in time is ended', async () => {
  const port = await openServer()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const slow = [
    statusOf(port, { path: ENROLL, bytes: 100, body: '{' }),
    statusOf(port, { ...call('{}', false), body: '{' }),
  ]
  let settled = 0
  for (const each of slow) void each.then(() => (settled += 1))
  // Both requests have arrived once both timers run.
  while (vi.getTimerCount() < 2) await new Promise(setImmediate)
  await vi.advanceTimersByTimeAsync(UNPROVEN_MS - 1)
  expect(settled).toBe(0)
  await vi.advanceTimersByTimeAsync(1)
  expect(await Promise.all(slow)).toEqual([408, 408])
})

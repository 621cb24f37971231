// Sends one HTTP request and reads the complete response, under a deadline and a size limit. Redirects are not followed,
// paths not decoded, headers not added. A failure contains no text of the peer. The secrets store adapter uses this file.

import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
  request as requestPlain,
} from 'node:http'
import { request as requestSecure, Agent as SecureAgent } from 'node:https'
import type { LookupFunction, Socket } from 'node:net'
import { defined } from '@holdfast/contract'
import { ADDRESS_REFUSED } from './pinned-lookup.ts'

export interface Origin {
  readonly secure: boolean
  /** Host name or IP address of the peer; an IPv6 address is without brackets. */
  readonly hostname: string
  readonly port: number
  readonly agent: Agent
}

export interface ExchangeRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'LIST'
  /** Path of the request, which is sent unchanged; the caller builds it from checked segments. */
  readonly path: string
  readonly headers: { readonly [name: string]: string }
  readonly body?: string
  readonly signal: AbortSignal
  readonly capBytes: number
}

export interface ExchangeAnswer {
  readonly kind: 'answer'
  readonly status: number
  readonly headers: { readonly [name: string]: readonly string[] | undefined }
  readonly body: Buffer
}

export interface ExchangeFailure {
  readonly kind: 'failed'
  readonly cause:
    | 'timeout'
    | 'dns'
    | 'tls'
    | 'connection'
    | 'too_large'
    | 'address_refused'
    | 'answer_invalid'
  /** Whether the request was sent. False only if the peer cannot have read any part of the request. */
  readonly sent: boolean
}

interface Attempt {
  readonly result: ExchangeAnswer | ExchangeFailure
  /** True if the request failed on a connection that was reused from an earlier request. */
  readonly stale: boolean
}

export interface OriginOptions {
  readonly secure: boolean
  /** Canonical `host:port` of the peer. */
  readonly host: string
  readonly ca?: string
  readonly lookup?: LookupFunction
}

export function createOrigin(options: OriginOptions): Origin {
  const settings = {
    keepAlive: true,
    timeout: 30_000,
    ...defined({ ca: options.ca, lookup: options.lookup }),
  }
  const agent = options.secure ? new SecureAgent(settings) : new Agent(settings)
  return { secure: options.secure, agent, ...splitHostPort(options.host) }
}

export function splitHostPort(host: string): { hostname: string; port: number } {
  const colon = host.lastIndexOf(':')
  return { hostname: host.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(host.slice(colon + 1)) }
}

/** Sends a request; the promise never rejects. A GET or HEAD that fails on a reused connection is sent once more. */
export async function exchange(
  origin: Origin,
  request: ExchangeRequest,
): Promise<ExchangeAnswer | ExchangeFailure> {
  const { result, stale } = await attempt(origin, request)
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  return stale && isRead ? (await attempt(origin, request)).result : result
}

type Stage = 'connecting' | 'handshaking' | 'sent'

async function attempt(origin: Origin, request: ExchangeRequest): Promise<Attempt> {
  const stage: { now: Stage } = { now: 'connecting' }
  const outgoing = open(origin, request)
  outgoing.once('socket', (socket) => followStage(socket, origin.secure, stage))
  try {
    const incoming = await answerOf(outgoing, request.body)
    return { result: await readAnswer(incoming, request), stale: false }
  } catch (error) {
    outgoing.destroy()
    const cause = request.signal.aborted ? 'timeout' : explainFailure(error, stage.now)
    const stale = outgoing.reusedSocket && cause === 'connection'
    return { result: { kind: 'failed', cause, sent: stage.now === 'sent' }, stale }
  }
}

function open(origin: Origin, request: ExchangeRequest): ClientRequest {
  const options: RequestOptions = {
    host: origin.hostname,
    port: origin.port,
    agent: origin.agent,
    method: request.method,
    path: request.path,
    headers: request.headers,
    signal: request.signal,
  }
  return origin.secure ? requestSecure(options) : requestPlain(options)
}

function followStage(socket: Socket, secure: boolean, stage: { now: Stage }): void {
  if (!socket.connecting) {
    stage.now = 'sent'
    return
  }
  socket.once('connect', () => {
    stage.now = secure ? 'handshaking' : 'sent'
  })
  socket.once('secureConnect', () => {
    stage.now = 'sent'
  })
}

function answerOf(outgoing: ClientRequest, body: string | undefined): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    // The error listener is never removed: an error after the start of the response would otherwise crash the process.
    outgoing.on('error', reject)
    outgoing.once('response', resolve)
    outgoing.once('upgrade', (_answer, socket) => {
      socket.destroy()
      reject(new Error('upgrade'))
    })
    outgoing.end(body)
  })
}

async function readAnswer(
  incoming: IncomingMessage,
  request: ExchangeRequest,
): Promise<ExchangeAnswer | ExchangeFailure> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of incoming) {
    size += chunk.length
    if (size > request.capBytes) return { kind: 'failed', cause: 'too_large', sent: true }
    chunks.push(chunk)
  }
  const { statusCode: status = 0, headersDistinct: headers } = incoming
  return { kind: 'answer', status, headers, body: Buffer.concat(chunks) }
}

function explainFailure(error: unknown, stage: Stage): ExchangeFailure['cause'] {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === ADDRESS_REFUSED) return 'address_refused'
  if (code.startsWith('HPE_')) return 'answer_invalid'
  if (stage === 'handshaking') return 'tls'
  if (stage === 'connecting' && /^(?:ENOTFOUND|EAI_|ENODATA|ESERVFAIL)/.test(code)) return 'dns'
  return 'connection'
}

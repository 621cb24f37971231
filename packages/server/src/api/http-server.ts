// HTTP over Fastify: routes from the endpoint table, the gate in front, one funnel for what goes wrong. It knows no
// resource and no engine.

import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Json, Rejection } from '@holdfast/contract'
import { reject } from '@holdfast/core'
import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import type { Logger } from 'pino'
import { limited } from '../operations/caller.ts'
import { underTaint } from '../ports/taint.ts'
import { UnstorableRecordError } from '../store/encode.ts'
import { StoreUnavailableError } from '../store/store.ts'
import {
  type Answer,
  type AnyEndpoint,
  type Endpoint,
  isOpen,
  type OpenEndpoint,
  type StreamedAnswer,
} from './endpoint.ts'
import { INTERNAL_URLS, type InternalCalls, serveInternalCalls } from './internal-calls.ts'
import type { OpenPage } from './pages/open-page.ts'
import { ownWords } from './public-words.ts'
import { type Refusal, sendAnswer, sendJson, sendRefusal, sendStream } from './reply.ts'
import {
  type Admitted,
  admitOpenRequest,
  admitRequest,
  type Gate,
  identify,
  type RequestHead,
} from './request/admit-request.ts'
import { createBrokenRequests } from './request/malformed-requests.ts'
import { readBody } from './request/read-body.ts'
import { createRequestObserver, type RequestMetrics, type RequestObserver } from './request-observer.ts'
import { rawQuery, routablePath, routeUrl, unknownPath } from './route-table.ts'
import { watchSilentConnections } from './silent-connections.ts'
import { createOpenStreams, type OpenStreams, type StreamPlace } from './streams/open-streams.ts'

export interface HttpServerOptions {
  readonly endpoints: readonly AnyEndpoint[]
  readonly pages: readonly OpenPage[]
  readonly gate: Gate
  readonly log: Logger
  readonly metrics: RequestMetrics
  readonly publicUrl: string
  readonly bodyBytes: number
  readonly bodyDepth: number
  readonly headerBytes: number
  /** PEM texts; absent: plain HTTP, for a proxy in front. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined
  readonly internalCalls: InternalCalls
  newRequestId(): string
}

interface Serving extends HttpServerOptions {
  readonly app: FastifyInstance
  readonly observer: RequestObserver
  readonly admitted: WeakMap<FastifyRequest, Admitted>
  readonly streams: OpenStreams
  /** Its own, told whatever was sent. */
  readonly words: string
  refuse(request: FastifyRequest, reply: FastifyReply, refusal: Refusal): FastifyReply
}

const REQUEST_TIMEOUT_MS = 30_000
const HEADERS_TIMEOUT_MS = 10_000
const TIMEOUT_CHECK_MS = 2_000
/** Longer than what proxies in front keep theirs, so that it is never we who close under a request. */
const KEEP_ALIVE_MS = 72_000

export function createHttpServer(options: HttpServerOptions): FastifyInstance {
  const broken = createBrokenRequests(options.publicUrl)
  const app = Fastify({
    logger: false,
    bodyLimit: options.bodyBytes,
    requestTimeout: REQUEST_TIMEOUT_MS,
    serverFactory: (handler) => openServer(options, handler),
    // A path is as long as the head of a request may be; a name that is too long is refused as a name.
    routerOptions: { maxParamLength: options.headerBytes, querystringParser: () => ({}) },
    clientErrorHandler: broken.answer,
    exposeHeadRoutes: false,
    genReqId: options.newRequestId,
    rewriteUrl: (request) => routablePath(request.url ?? '/'),
  })
  const observer = createRequestObserver(options.log, options.metrics)
  const refuse: Serving['refuse'] = (request, reply, refusal) => {
    observer.refused(request, refusal.rejections)
    return sendRefusal(reply, refusal, options.publicUrl)
  }
  const streams = createOpenStreams()
  // A server waits for the answers that it owes before it stops; these would never end by themselves.
  app.addHook('preClose', streams.endAll)
  const silent = watchSilentConnections(app.server, options.tls !== undefined)
  app.addHook('preClose', async () => silent.close())
  const admitted = new WeakMap<FastifyRequest, Admitted>()
  const words = ownWords(options.endpoints)
  const serving = { ...options, app, observer, refuse, admitted, streams, words }
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, parsed) => parsed(null, body))
  broken.watch(app)
  // Node would answer 417 by itself; the gate refuses the header with its code.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  openGate(serving)
  servePages(serving)
  serveInternalCalls(app, options.internalCalls)
  for (const endpoint of options.endpoints) {
    if (isOpen(endpoint)) serveOpenEndpoint(serving, endpoint)
    else serveEndpoint(serving, endpoint)
  }
  app.setErrorHandler((error: FastifyError, request, reply) => answerFailure(serving, request, reply, error))
  return app
}

/** A repeated header is joined, never dropped: no accepted form contains the comma. What is wrong with Host has its code. */
function openServer({ headerBytes, tls }: HttpServerOptions, handler: RequestListener) {
  const settings = {
    maxHeaderSize: headerBytes,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    joinDuplicateHeaders: true,
    requireHostHeader: false,
  }
  return tls === undefined
    ? createServer(settings, handler)
    : createTlsServer({ ...settings, ...tls, minVersion: 'TLSv1.2' }, handler)
}

/** Before anything is routed: who asks, whether the path exists, and whether this caller may ask it. */
function openGate({ app, gate, endpoints, pages, admitted, observer, refuse }: Serving): void {
  const byRoute = new Map(
    endpoints.map((endpoint) => [`${endpoint.method} ${routeUrl(endpoint.path)}`, endpoint]),
  )
  const open = new Set([...INTERNAL_URLS, ...pages.map(({ path }) => routeUrl(path))])
  const known = [
    ...endpoints,
    ...pages.flatMap(({ path }) => PAGE_METHODS.map((method) => ({ method, path }))),
  ]
  app.addHook('onRequest', async (request, reply) => {
    void reply.headers({ 'x-request-id': request.id, 'x-content-type-options': 'nosniff' })
    const { url = '' } = request.routeOptions
    if (open.has(url)) return
    const head = headOf(request)
    const endpoint = byRoute.get(`${request.method} ${url}`)
    if (endpoint !== undefined && isOpen(endpoint)) {
      // What came in the same packet is read first: garbage behind this request must find it still unanswered.
      await Promise.resolve()
      const passage = admitOpenRequest(endpoint, head, request.ip)
      return passage.ok ? undefined : refuse(request, reply, passage.refusal)
    }
    const identified = await identify(gate, head)
    if (!identified.ok) return refuse(request, reply, identified.refusal)
    if (endpoint === undefined)
      return refuse(request, reply, unknownPath(known, request.method, request.originalUrl))
    const passage = await admitRequest(gate, endpoint, head, identified.value)
    if (!passage.ok) return refuse(request, reply, passage.refusal)
    admitted.set(request, passage.value)
  })
  app.addHook('onResponse', (request, reply, done) => {
    observer.answered(request, reply, admitted.get(request)?.caller)
    done()
  })
}

function headOf(request: FastifyRequest): RequestHead {
  const params: { [name: string]: string } = {}
  for (const [name, value] of Object.entries(request.params ?? {})) params[name] = String(value)
  return { headers: request.headers, params, rawQuery: rawQuery(request.originalUrl), requestId: request.id }
}

/** Load balancers and monitors ask with HEAD as well. */
const PAGE_METHODS = ['GET', 'HEAD']

function servePages({ app, pages, refuse }: Serving): void {
  for (const page of pages) {
    app.route({
      method: PAGE_METHODS,
      url: routeUrl(page.path),
      handler: async (request, reply) => {
        const rendered = await page.render(headOf(request).params)
        if (rendered === undefined)
          return refuse(request, reply, unknownPath([], request.method, request.originalUrl))
        return reply.code(rendered.status).header('content-type', rendered.type).send(rendered.body)
      },
    })
  }
}

function serveEndpoint(serving: Serving, endpoint: Endpoint): void {
  const { app, admitted, bodyDepth, streams, words, refuse } = serving
  app.route({
    method: endpoint.method,
    url: routeUrl(endpoint.path),
    handler: async (request, reply) => {
      const passage = admitted.get(request)
      if (passage === undefined) throw new TypeError('a request came past the gate')
      const body = readBody(endpoint, request, bodyDepth)
      if (!body.ok) return refuse(request, reply, { rejections: [body.rejection] })
      const place = endpoint.streams ? streams.take(passage.caller.token) : undefined
      if (endpoint.streams && place === undefined) return refuse(request, reply, limited('Authorization', 1))
      const passed = { request, reply, passage, body: body.value, place }
      try {
        const { tenant, token } = passage.caller
        const open = [request.url, tenant, token, words]
        return await underTaint(body.value, () => carryOut(serving, endpoint, passed), open)
      } catch (error) {
        place?.release()
        throw error
      }
    },
  })
}

interface Passed {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly passage: Admitted
  readonly body: Json
  readonly place: StreamPlace | undefined
}

async function carryOut(
  { gate, observer, refuse }: Serving,
  endpoint: Endpoint,
  { request, reply, passage, body, place }: Passed,
): Promise<FastifyReply> {
  const outcome = await endpoint.handle({ ...passage, body })
  const revoked = endpoint.method === 'GET' && !gate.isLive(passage.caller.token)
  if (!outcome.ok || revoked || !isStreamed(outcome.value)) place?.release()
  // A read has caught up with the store since the caller was identified: a token revoked before it began shows now.
  if (revoked) {
    if (outcome.ok && isStreamed(outcome.value)) outcome.value.stream.destroy()
    return refuse(request, reply, { rejections: [reject('unauthenticated', 'Authorization', undefined)] })
  }
  if (!outcome.ok) return refuse(request, reply, outcome)
  if (outcome.value.notes !== undefined) observer.noted(request, outcome.value.notes)
  if (!isStreamed(outcome.value)) return sendAnswer(reply, outcome.value)
  const { authorization } = request.headers
  place?.follow(outcome.value, async () => !('code' in (await gate.authenticate(authorization))))
  return sendStream(reply, outcome.value)
}

const isStreamed = (answer: Answer | StreamedAnswer): answer is StreamedAnswer => 'stream' in answer

function serveOpenEndpoint({ app, bodyDepth, refuse }: Serving, endpoint: OpenEndpoint): void {
  app.route({
    method: endpoint.method,
    url: routeUrl(endpoint.path),
    handler: async (request, reply) => {
      const body = readBody(endpoint, request, bodyDepth)
      if (!body.ok) return refuse(request, reply, { rejections: [body.rejection] })
      const asked = { body: body.value, address: request.ip, requestId: request.id }
      const outcome = await endpoint.handle(asked)
      return outcome.ok ? sendAnswer(reply, outcome.value) : refuse(request, reply, outcome)
    },
  })
}

/** What could not be decided is an exception (DESIGN 4); what a client did wrong never arrives here as one. */
function answerFailure(
  serving: Serving,
  request: FastifyRequest,
  reply: FastifyReply,
  error: FastifyError,
): FastifyReply {
  const rejection = rejectionFor(error, serving.bodyBytes)
  if (rejection !== undefined) {
    // The connection may hold the rest of a body that nobody will read.
    return serving.refuse(request, reply, {
      rejections: [rejection],
      headers: error.statusCode === 413 ? { connection: 'close' } : {},
    })
  }
  serving.observer.failed(request, error)
  return sendJson(reply, 500, JSON.stringify({ error: 'internal', requestId: request.id }))
}

function rejectionFor(error: FastifyError, maxBytes: number): Rejection | undefined {
  if (error instanceof StoreUnavailableError) return reject('store_unavailable', 'store', undefined)
  if (error instanceof UnstorableRecordError) return error.material
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return reject('body_too_large', 'body', undefined, { max: maxBytes })
  if (error.statusCode === 400 || error.statusCode === 415) {
    return reject('body_malformed', 'body', undefined, { fault: 'a body that could not be read' })
  }
  return undefined
}

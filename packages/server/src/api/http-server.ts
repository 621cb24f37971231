// The HTTP server: routes from the endpoint table, the checks before each handler, and one place for unexpected errors.

import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Socket } from 'node:net'
import type { Json, Rejection } from '@holdfast/contract'
import { reject, storeUnavailable } from '@holdfast/core'
import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import type { Logger } from 'pino'
import type { CertificatePair } from '../net/certificate-chain.ts'
import type { ClientAddress } from '../net/client-address.ts'
import { type ConnectionLimits, limitConnections } from '../net/limit-connections.ts'
import { tlsSettings } from '../net/serving-certificate.ts'
import { limited } from '../operations/caller.ts'
import type { AuditStream } from '../operations/events/audit-stream.ts'
import { underTaint } from '../ports/taint.ts'
import { UnstorableRecordError } from '../store/encode.ts'
import { StoreUnavailableError } from '../store/store.ts'
import {
  type AnyEndpoint,
  type ApiResponse,
  type Endpoint,
  isOpen,
  type OpenEndpoint,
  type StreamedResponse,
} from './endpoint.ts'
import {
  INTERNAL_URLS,
  type InternalCalls,
  limitBodyTime,
  refuseHead,
  serveInternalCalls,
  UNPROVEN_BYTES,
} from './internal-calls.ts'
import type { OpenPage } from './pages/open-page.ts'
import { publicWords } from './public-words.ts'
import { type RejectedResponse, sendJson, sendRejections, sendResponse, sendStream } from './reply.ts'
import {
  type Admitted,
  admitOpenRequest,
  admitRequest,
  credentialsOf,
  type Gate,
  identify,
  type RequestHead,
} from './request/admit-request.ts'
import { createMalformedRequests } from './request/malformed-requests.ts'
import { readBody } from './request/read-body.ts'
import {
  type Asked,
  createRequestObserver,
  type RequestMetrics,
  type RequestObserver,
} from './request-observer.ts'
import { rawQuery, routablePath, routeUrl, unknownPath } from './route-table.ts'
import { createOpenStreams, type OpenStreams, type StreamSlot } from './streams/open-streams.ts'
import type { AnswerUi } from './ui/answer-ui.ts'
import { serveUi, UI_URLS } from './ui/serve-ui.ts'

export interface HttpServerOptions {
  readonly endpoints: readonly AnyEndpoint[]
  readonly pages: readonly OpenPage[]
  readonly gate: Gate
  readonly log: Logger
  readonly audit: Pick<AuditStream, 'rejected'>
  readonly metrics: RequestMetrics
  readonly publicUrl: string
  readonly bodyBytes: number
  readonly bodyDepth: number
  readonly headerBytes: number
  /** Certificate and key as PEM texts; absent for plain HTTP behind a proxy that terminates TLS. */
  readonly tls?: CertificatePair | undefined
  readonly internalCalls: InternalCalls
  readonly connections: ConnectionLimits & ConnectionTimes
  /** The address of a client, also behind proxies that the operator trusts. */
  readonly clientAddress: ClientAddress
  /** Whether this server is about to stop; its responses then close their connections. */
  isStopping(): boolean
  /** Answers requests for files of the dashboard; absent if this process serves none. */
  readonly ui?: AnswerUi | undefined
  newRequestId(): string
}

/** How long a client may take, in milliseconds. */
export interface ConnectionTimes {
  readonly headersMs: number
  readonly requestMs: number
}

interface HttpContext extends HttpServerOptions {
  readonly app: FastifyInstance
  readonly observer: RequestObserver
  readonly admitted: WeakMap<FastifyRequest, Admitted>
  readonly asked: WeakMap<FastifyRequest, Asked>
  readonly streams: OpenStreams
  /** Field names and enumeration values of the API, which a response may contain even if a secret equals one of them. */
  readonly words: string
  sendRejected(request: FastifyRequest, reply: FastifyReply, rejected: RejectedResponse): FastifyReply
  /** Answers a request whose body does not arrive, and closes its connection. */
  endSlow(request: FastifyRequest): void
}

/** A body that did not arrive in time. It is answered like any other request that Node timed out. */
class SlowBodyError extends Error {
  readonly code = 'ERR_HTTP_REQUEST_TIMEOUT'
}

/**
 * How often connections are checked for their time. Thousands of connections that one client opened end together, and all that
 * are due at a check are ended in one go, so a rare check would delay every other request.
 */
const TIMEOUT_CHECK_MS = 50
/** How long a stopping server waits for pending requests. */
const STOP_MS = 8_000
/** Idle timeout of connections, longer than in common proxies, so that the proxy closes an idle connection first. */
const KEEP_ALIVE_MS = 72_000

export function createHttpServer(options: HttpServerOptions): FastifyInstance {
  const malformed = createMalformedRequests(options.publicUrl)
  const app = Fastify({
    logger: false,
    bodyLimit: options.bodyBytes,
    requestTimeout: options.connections.requestMs,
    serverFactory: (handler) => openServer(options, handler),
    // Path parameters may be as long as the headers allow; the rules for names reject long names with their own code.
    routerOptions: { maxParamLength: options.headerBytes, querystringParser: () => ({}) },
    clientErrorHandler: malformed.handle,
    exposeHeadRoutes: false,
    genReqId: options.newRequestId,
    rewriteUrl: (request) => routablePath(request.url ?? '/'),
  })
  const { log, metrics, clientAddress, audit } = options
  const observer = createRequestObserver(log, metrics, clientAddress, audit)
  const sendRejected: HttpContext['sendRejected'] = (request, reply, rejected) => {
    observer.rejected(request, rejected.rejections)
    return sendRejections(reply, rejected, options.publicUrl)
  }
  const streams = createOpenStreams()
  // A stopping server waits for pending responses; streams have no end and must be ended explicitly.
  app.addHook('preClose', streams.endAll)
  closeUnusedConnections(app, options.tls !== undefined)
  limitConnections(app.server, options.connections)
  const admitted = new WeakMap<FastifyRequest, Admitted>()
  const asked = new WeakMap<FastifyRequest, Asked>()
  const words = publicWords(options.endpoints)
  const endSlow = ({ raw }: FastifyRequest): void => malformed.handle(new SlowBodyError(), raw.socket)
  const context = { ...options, app, observer, sendRejected, admitted, asked, streams, words, endSlow }
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, parsed) => parsed(null, body))
  malformed.watch(app)
  // Without this listener Node itself would answer an invalid Expect header with 417, not with a rejection of the API.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  openGate(context)
  servePages(context)
  serveInternalCalls(app, options.internalCalls)
  if (options.ui !== undefined)
    serveUi(app, options.ui, (request, reply) =>
      sendRejected(request, reply, unknownPath([], request.method, request.originalUrl)),
    )
  for (const endpoint of options.endpoints) {
    if (isOpen(endpoint)) serveOpenEndpoint(context, endpoint)
    else serveEndpoint(context, endpoint)
  }
  app.setErrorHandler((error: FastifyError, request, reply) => handleError(context, request, reply, error))
  return app
}

/**
 * Closes connections without a request when the server stops. Node does not treat such connections as idle, and no longer
 * limits the time of a request, so one connection could delay the stop without end.
 */
function closeUnusedConnections(app: FastifyInstance, secure: boolean): void {
  const open = new Set<Socket>()
  let isStopping = false
  app.server.on(secure ? 'secureConnection' : 'connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    // Its handshake began before the stop.
    if (isStopping) socket.destroy()
  })
  app.addHook('preClose', async () => {
    isStopping = true
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
    setTimeout(() => app.server.closeAllConnections(), STOP_MS).unref()
  })
}

/** Creates the Node server. Node joins repeated headers and permits a missing Host; admit-request.ts rejects both. */
function openServer({ headerBytes, tls, connections }: HttpServerOptions, handler: RequestListener) {
  const settings = {
    maxHeaderSize: headerBytes,
    headersTimeout: connections.headersMs,
    requestTimeout: connections.requestMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    joinDuplicateHeaders: true,
    requireHostHeader: false,
  }
  if (tls === undefined) return createServer(settings, handler)
  return createTlsServer({ ...settings, ...tlsSettings(tls), handshakeTimeout: STOP_MS }, handler)
}

/** Adds the checks that run before a body is read: the caller's token, then the path, then the caller's permission. */
function openGate(context: HttpContext): void {
  const { app, gate, endpoints, pages, admitted, asked, observer, sendRejected, isStopping, endSlow } =
    context
  const byRoute = new Map(
    endpoints.map((endpoint) => [`${endpoint.method} ${routeUrl(endpoint.path)}`, endpoint]),
  )
  const open = new Set([...INTERNAL_URLS, ...UI_URLS, ...pages.map(({ path }) => routeUrl(path))])
  const known = [
    ...endpoints,
    ...pages.flatMap(({ path }) => PAGE_METHODS.map((method) => ({ method, path }))),
  ]
  app.addHook('onRequest', async (request, reply) => {
    void reply.headers({ 'x-request-id': request.id, 'x-content-type-options': 'nosniff' })
    if (isStopping()) void reply.header('connection', 'close')
    const { url = '' } = request.routeOptions
    if (INTERNAL_URLS.includes(url)) {
      const status = refuseHead(context.internalCalls, request)
      // The rest of the body is not awaited.
      if (status !== undefined) return reply.code(status).header('connection', 'close').send({})
      limitBodyTime(request.raw, () => endSlow(request))
      return
    }
    if (open.has(url)) return
    const head = headOf(request)
    const endpoint = byRoute.get(`${request.method} ${url}`)
    if (endpoint !== undefined && isOpen(endpoint)) {
      // Waits until the HTTP parser has read the packet: malformed bytes after this request must be found before a reply.
      await Promise.resolve()
      const admission = admitOpenRequest(endpoint, head)
      if (admission.ok) limitBodyTime(request.raw, () => endSlow(request))
      return admission.ok ? undefined : sendRejected(request, reply, admission.rejected)
    }
    const identified = await identify(gate, head)
    if (!identified.ok) return sendRejected(request, reply, identified.rejected)
    const { id: token, name: tokenName, role, tenant } = identified.value.token
    const actor = { token, tokenName, role, tenant, onBehalf: false }
    asked.set(request, { actor, ...(endpoint && { action: endpoint.action }) })
    if (endpoint === undefined)
      return sendRejected(request, reply, unknownPath(known, request.method, request.originalUrl))
    const admission = await admitRequest(gate, endpoint, head, identified.value)
    if (!admission.ok) return sendRejected(request, reply, admission.rejected)
    admitted.set(request, admission.value)
    const { caller, query } = admission.value
    asked.set(request, { actor: caller, ...(!query.dryRun && { action: endpoint.action }) })
  })
  app.addHook('onResponse', (request, reply, done) => {
    observer.completed(request, reply, asked.get(request))
    done()
  })
}

function headOf(request: FastifyRequest): RequestHead {
  const params: { [name: string]: string } = {}
  for (const [name, value] of Object.entries(request.params ?? {})) params[name] = String(value)
  return { headers: request.headers, params, rawQuery: rawQuery(request.originalUrl), requestId: request.id }
}

/** HTTP methods of the pages without authentication; load balancers and monitors use HEAD as well as GET. */
const PAGE_METHODS = ['GET', 'HEAD']

function servePages({ app, pages, sendRejected }: HttpContext): void {
  for (const page of pages) {
    app.route({
      method: PAGE_METHODS,
      url: routeUrl(page.path),
      handler: async (request, reply) => {
        const { params, rawQuery: query } = headOf(request)
        const rendered = await page.render(params, new URLSearchParams(query))
        if (rendered === undefined)
          return sendRejected(request, reply, unknownPath([], request.method, request.originalUrl))
        const { status, type, body, headers = {} } = rendered
        void reply.headers({ ...headers, 'content-type': type })
        const isKnown = headers['etag'] !== undefined && request.headers['if-none-match'] === headers['etag']
        return isKnown ? reply.code(304).send() : reply.code(status).send(body)
      },
    })
  }
}

function serveEndpoint(context: HttpContext, endpoint: Endpoint): void {
  const { app, admitted, bodyDepth, streams, words, sendRejected } = context
  app.route({
    method: endpoint.method,
    url: routeUrl(endpoint.path),
    handler: async (request, reply) => {
      const admission = admitted.get(request)
      if (admission === undefined) throw new TypeError('the request was not checked before its handler')
      const body = readBody(endpoint, request, bodyDepth)
      if (!body.ok) return sendRejected(request, reply, { rejections: [body.rejection] })
      const slot = endpoint.streams ? streams.reserve(admission.caller.token) : undefined
      if (endpoint.streams && slot === undefined)
        return sendRejected(request, reply, limited('Authorization', 1))
      const call = { request, reply, admission, body: body.value, slot }
      try {
        const { tenant, token, tokenName = '' } = admission.caller
        const publicTexts = [request.url, tenant, token, tokenName, words]
        return await underTaint(body.value, () => execute(context, endpoint, call), publicTexts)
      } catch (error) {
        slot?.release()
        throw error
      }
    },
  })
}

interface EndpointCall {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly admission: Admitted
  readonly body: Json
  readonly slot: StreamSlot | undefined
}

async function execute(
  { gate, observer, sendRejected }: HttpContext,
  endpoint: Endpoint,
  { request, reply, admission, body, slot }: EndpointCall,
): Promise<FastifyReply> {
  const outcome = await endpoint.handle({ ...admission, body })
  const revoked = endpoint.method === 'GET' && !gate.isLive(admission.caller)
  if (!outcome.ok || revoked || !isStreamed(outcome.value)) slot?.release()
  // The handler of a GET has refreshed the cache, so a token that was revoked before the request is now missing from it.
  if (revoked) {
    if (outcome.ok && isStreamed(outcome.value)) outcome.value.stream.destroy()
    return sendRejected(request, reply, {
      rejections: [reject('unauthenticated', 'Authorization', undefined)],
    })
  }
  if (!outcome.ok) return sendRejected(request, reply, outcome)
  if (outcome.value.notes !== undefined) observer.annotate(request, outcome.value.notes)
  if (!isStreamed(outcome.value)) return sendResponse(reply, outcome.value)
  const sent = credentialsOf(request.headers)
  slot?.follow(outcome.value, async () => !('code' in (await gate.authenticate(sent))))
  return sendStream(reply, outcome.value)
}

const isStreamed = (response: ApiResponse | StreamedResponse): response is StreamedResponse =>
  'stream' in response

function serveOpenEndpoint(
  { app, bodyBytes, bodyDepth, clientAddress, sendRejected }: HttpContext,
  endpoint: OpenEndpoint,
): void {
  app.route({
    method: endpoint.method,
    url: routeUrl(endpoint.path),
    // The credential is in the body, so its sender has proven nothing before.
    bodyLimit: Math.min(bodyBytes, UNPROVEN_BYTES),
    handler: async (request, reply) => {
      const body = readBody(endpoint, request, bodyDepth)
      if (!body.ok) return sendRejected(request, reply, { rejections: [body.rejection] })
      const call = { body: body.value, address: clientAddress(request), requestId: request.id }
      const outcome = await endpoint.handle(call)
      return outcome.ok ? sendResponse(reply, outcome.value) : sendRejected(request, reply, outcome)
    },
  })
}

/** Handles exceptions: known causes, such as an unavailable store, become rejections; all others get a 500 response. */
function handleError(
  context: HttpContext,
  request: FastifyRequest,
  reply: FastifyReply,
  error: FastifyError,
): FastifyReply {
  const rejection = rejectionFor(error, request.routeOptions.bodyLimit ?? context.bodyBytes)
  if (rejection !== undefined) {
    // After a body that is too large the connection is closed, because the rest of the body may still arrive on it.
    return context.sendRejected(request, reply, {
      rejections: [rejection],
      headers: error.statusCode === 413 ? { connection: 'close' } : {},
    })
  }
  context.observer.failed(request, error)
  return sendJson(reply, 500, JSON.stringify({ error: 'internal', requestId: request.id }))
}

function rejectionFor(error: FastifyError, maxBytes: number): Rejection | undefined {
  if (error instanceof StoreUnavailableError) return storeUnavailable()
  if (error instanceof UnstorableRecordError) return error.material
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return reject('body_too_large', 'body', undefined, { max: maxBytes })
  if (error.statusCode === 400 || error.statusCode === 415) {
    return reject('body_malformed', 'body', undefined, { fault: 'the body could not be read' })
  }
  return undefined
}

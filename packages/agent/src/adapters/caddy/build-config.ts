// Builds the complete configuration of a node's Caddy from the routes. Pure: equal routes result in equal text.
//
// One server handles requests from outside, and from the tenant's other nodes by plain HTTP (the peer address). A second
// server with the same routes handles requests from other nodes by mutual TLS. The routes, in order:
//
//   1  remove headers that only nodes and routers may set from requests that came from outside
//   2  one route per deployment, with the deployment's name as @id: reads the upstream line of the deployment's file
//   3  routes for all deployments: draw the canary or the other replicas; proxy to a local replica; count the hop; proxy
//      to another node; answer 503 or 404
//
// A deployment adds only a matcher and a file name to the configuration, so Caddy loads a thousand deployments quickly.
// Replicas are listed in upstream files (upstream-files.ts), not in the configuration: loading a configuration closes
// connections, so the agent loads one only when routes change.

import { createHash } from 'node:crypto'
import { defined } from '@holdfast/contract'
import type { Backend, PeerSecurity } from '../../ports/router.ts'
import type { CaddySettings, RoutesTls } from '../../ports/router-settings.ts'
import { spellingsOf } from './header-spellings.ts'
import { matchersOf } from './match-routes.ts'
import { nameUpstream, peerCertificates, peerListener, safeTransport } from './peer-config.ts'
import { DRAW_POOL, FORWARD_POOL, POOL_HEADER, READ_POOL, withoutCanary } from './split-pools.ts'
import { AWAY_ROOM, ROOMS, upstreamFile } from './upstream-files.ts'

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

export interface CaddyConfig {
  readonly text: string
  /** Identifier of the configuration: `config.` and a hash. Caddy stores it as the @id of its admin object. */
  readonly version: string
}

/** A transport of a proxy. `headers` are further members of the proxy itself. */
interface Transport {
  readonly headers?: { readonly [key: string]: Json }
  readonly [member: string]: Json
}

const HOP_HEADER = 'Holdfast-Hop'
const HOPS = ['1', '2', '3'] as const
const FORWARDED = ['X-Forwarded-For', 'X-Forwarded-Proto', 'X-Forwarded-Host']
/** Delay before a reload closes upgraded connections such as WebSockets; without a delay, it closes them at once. */
const STREAMS_STAY = '1h'
/** Connections to replicas on this node. The short timeout lets Caddy soon try another replica if one is gone. */
const HERE: Transport = { protocol: 'http', dial_timeout: '500ms' }
/**
 * Connections to other nodes: a new connection for each request. On a reused connection Caddy would notice only after
 * minutes that the other node is gone, and most requests that were already sent must not be sent to a third node.
 */
export const AWAY: Transport = { protocol: 'http', dial_timeout: '1s', keep_alive: { enabled: false } }
/**
 * The timeout of the last attempt. If every address fails, they are rather busy than gone: the kernel of a busy machine drops the
 * packet that opens a connection, and the sender repeats it only after a second.
 */
const LAST_DIAL = '3s'
/** Positions in an upstream line that Caddy tries, in this order, after the chosen upstream was unreachable. */
const OTHERS = [1, 2, 3]
/** Errors after which no byte of a request was sent: nothing answered. */
const UNREACHED = '^dial '
/** The same by TLS: nothing answered, or not the router that this node knows. */
const UNREACHED_BY_TLS = '^(dial |tls: failed to verify certificate)'
/** Errors of Go's HTTP client after which not one byte of a response had arrived on a connection that was made. */
const UNANSWERED = [
  '^(net/http: HTTP/1.x transport connection broken: |readLoopPeekFailLocked: )*',
  '(EOF|http: server closed idle connection|(read|write) tcp .*: (connection reset by peer|broken pipe))$',
].join('')
const HTTP_PORT = 80
const HTTPS_PORT = 443

/** Without `security`, other nodes are reached and accepted by plain HTTP. */
export function buildConfig(
  settings: CaddySettings,
  backends: readonly Backend[],
  security?: PeerSecurity,
): CaddyConfig {
  const body = { logging: { logs: { default: { level: 'WARN' } } }, apps: apps(settings, backends, security) }
  const version = `config.${createHash('sha256').update(JSON.stringify(body)).digest('hex')}`
  const admin = { '@id': version, listen: `unix/${settings.adminSocket}|0600`, config: { persist: false } }
  return { text: JSON.stringify({ admin, ...body }), version }
}

function apps(settings: CaddySettings, backends: readonly Backend[], security?: PeerSecurity): Json {
  const { tls, listen } = settings
  const peerListen = security?.acceptPlain === false ? undefined : settings.peerListen
  const edge = { ...serverOf(distrust(peerListen), settings, backends, security) }
  const peer = peerListen === undefined ? [] : [peerListen]
  const peers = peerListener(settings, security)
  const servers = peers && { peers: { ...peers, ...serverOf(TRUST, settings, backends, security, false) } }
  const certificates = peerCertificates(settings, security)
  if (tls.mode === 'off')
    return {
      http: { servers: { edge: { listen: [...listen, ...peer], ...NO_TLS, ...edge }, ...servers } },
      ...defined({ tls: certificates && { certificates } }),
    }
  const plain = listen.filter((address) => portOf(address) === HTTP_PORT)
  const secure = listen.filter((address) => portOf(address) !== HTTP_PORT)
  return {
    http: {
      // Caddy serves plain text only on `http_port`. On a server with certificates only the peer port uses plain text.
      http_port: peerListen === undefined ? HTTP_PORT : portOf(peerListen),
      https_port: portOf(secure[0] ?? `:${HTTPS_PORT}`),
      servers: {
        edge: { listen: [...secure, ...peer], automatic_https: { disable_redirects: true }, ...edge },
        ...(plain.length === 0 ? {} : { plain: { listen: plain, ...NO_TLS, routes: [redirect(secure)] } }),
        ...servers,
      },
    },
    tls: { automation: { policies: [{ issuers: [issuer(tls)] }] }, ...defined({ certificates }) },
    ...(tls.mode === 'internal'
      ? { pki: { certificate_authorities: { local: { install_trust: false } } } }
      : {}),
  }
}

/** Routes of a server. `first` handles the headers that state hops and the original client. */
function serverOf(
  first: readonly Json[],
  { upstreamsFolder }: CaddySettings,
  backends: readonly Backend[],
  security: PeerSecurity | undefined,
  hasIds = true,
): { readonly [key: string]: Json } {
  const proxies = proxyRoutes(upstreamsFolder, security)
  return {
    routes: [
      ...first,
      ...deploymentRoutes(upstreamsFolder, backends, hasIds),
      DRAW_POOL,
      ...proxies,
      { handle: [plainText(404, 'Not Found')] },
    ],
    errors: {
      routes: [withoutCanary(proxies, failedWith(unreachedOf(security)), FAILED), { handle: [FAILED] }],
    },
    // Caddy may trust the forwarding headers of all clients, because an earlier route removes them from outside requests.
    trusted_proxies: { source: 'static', ranges: ['0.0.0.0/0', '::/0'] },
  }
}

const unreachedOf = (security: PeerSecurity | undefined): string =>
  security === undefined ? UNREACHED : UNREACHED_BY_TLS

/** Proxies a request by its upstream line, and answers it with 503 if there is no upstream. */
const proxyRoutes = (upstreamsFolder: string, security: PeerSecurity | undefined): Json[] => [
  ...ROOMS.map((room) => proxyByLine('here', room, [HERE])),
  ...countHop(),
  ...FORWARD_POOL,
  proxyByLine('away', AWAY_ROOM, [AWAY]),
  ...safeRoutes(upstreamsFolder, security),
  { match: [{ vars_regexp: { upstream: { pattern: '.' } } }], handle: [UNAVAILABLE] },
]

/** Proxies to other nodes by mutual TLS. After `both`, plain addresses follow that are tried if no TLS port answers. */
function safeRoutes(folder: string, security: PeerSecurity | undefined): Json[] {
  const transport = security && safeTransport(folder, security)
  if (security === undefined || transport === undefined) return []
  const before = nameUpstream(security)
  return [
    proxyByLine('safe', AWAY_ROOM, [transport], [before]),
    proxyByLine('both', AWAY_ROOM, [transport, AWAY], [before]),
  ]
}

const NO_TLS = { automatic_https: { disable: true } }
const portOf = (address: string): number => Number(address.slice(address.lastIndexOf(':') + 1))

function issuer(tls: Exclude<RoutesTls, { mode: 'off' }>): Json {
  if (tls.mode === 'internal') return { module: 'internal' }
  return {
    module: 'acme',
    ...defined({ ca: tls.directory, email: tls.email }),
  }
}

function redirect(secure: readonly string[]): Json {
  const port = portOf(secure[0] ?? `:${HTTPS_PORT}`)
  const Location = `https://{http.request.host}${port === HTTPS_PORT ? '' : `:${port}`}{http.request.uri}`
  return { handle: [{ handler: 'static_response', status_code: 308, headers: { Location: [Location] } }] }
}

/** A name is an @id, by which a route is found, in one server only. */
function deploymentRoutes(folder: string, backends: readonly Backend[], hasIds: boolean): Json[] {
  const matchers = matchersOf(backends)
  return backends.flatMap((backend) => {
    const match = matchers.get(backend.name) ?? []
    const handle = [findUpstream(folder, backend)]
    const id = hasIds ? { '@id': backend.name } : {}
    return match.length === 0 ? [] : [{ ...id, group: 'routed', match, handle }]
  })
}

/**
 * Builds the handler that reads a deployment's upstream file. If the deployment's routes have different ports, the
 * matching route with the longest path determines the port, and thus the file.
 */
function findUpstream(folder: string, { name, routes }: Backend): Json {
  const toPort = (port: number): Json => ({
    handler: 'vars',
    upstream: `{file.${upstreamFile(folder, name, port)}}`,
  })
  const [first, ...others] = new Set(routes.map(({ port }) => port))
  if (first !== undefined && others.length === 0) return toPort(first)
  const choices = routes
    .toSorted((a, b) => b.path.length - a.path.length)
    .map(({ host, path, port }) => ({
      group: 'port',
      match: [{ host: [host], ...(path === '/' ? {} : { path: [path, `${path}/*`] }) }],
      handle: [toPort(port)],
    }))
  return { handler: 'subroute', routes: choices }
}

/**
 * Proxies requests to the addresses in the deployment's upstream line, in turn. If an address cannot be reached, Caddy
 * tries the next addresses. A line has one group of addresses for each transport.
 */
function proxyByLine(
  kind: 'here' | 'away' | 'safe' | 'both',
  room: number,
  transports: readonly Transport[],
  before: readonly Json[] = [],
): Json {
  const all = Array.from({ length: room }, (_, at) => at + 1)
  const pattern = `^${kind}${room}${' ([^ ]+)'.repeat(room * transports.length)}$`
  const tries = transports.flatMap((transport, at) => {
    const inTurn = at === 0 ? [all] : []
    const choices = [...inTurn, ...OTHERS.map((place) => [place + at * room])]
    return choices.map((places) => ({ places, transport }))
  })
  const proxies = tries.map(({ places, transport }, at) =>
    proxyTo(places, at === tries.length - 1 ? { ...transport, dial_timeout: LAST_DIAL } : transport),
  )
  const unreached = failedWith(transports.some(({ tls }) => tls !== undefined) ? UNREACHED_BY_TLS : UNREACHED)
  const mayContinue = kind === 'here' ? [unreached] : [unreached, CLOSED_BY_ROUTER]
  const handle = [...before, proxies.reduceRight((then, first) => ifFailed(first, mayContinue, then))]
  return { match: [{ vars_regexp: { upstream: { name: 'place', pattern } } }], handle }
}

const proxyTo = (places: readonly number[], { headers = {}, ...transport }: Transport): Json => ({
  handler: 'reverse_proxy',
  upstreams: places.map((place) => ({ dial: `{http.regexp.place.${place}}` })),
  stream_close_delay: STREAMS_STAY,
  load_balancing: { selection_policy: { policy: 'round_robin' } },
  transport,
  ...headers,
})

const failedWith = (pattern: string) => ({ vars_regexp: { '{http.error.message}': { pattern } } })

/**
 * Another router that is reloaded or ends closes connections without an answer. A container that does so is not meant: its
 * router answers with 502. A GET or HEAD without a body may be sent to a router again, as RFC 9110 9.2.2 allows. By HTTP/2 a body
 * may have no length, but it has a type.
 */
const CLOSED_BY_ROUTER = {
  method: ['GET', 'HEAD'],
  header: { 'Content-Length': null, 'Transfer-Encoding': null, 'Content-Type': null },
  ...failedWith(UNANSWERED),
}

/**
 * Tries the next upstream if the first failed in one of these ways. A request that may have been processed is not sent
 * again, except by `CLOSED_BY_ROUTER`. Caddy's built-in retries are not used, because they could choose the same dead replica
 * repeatedly.
 */
function ifFailed(first: Json, ways: readonly Json[], then: Json): Json {
  const errors = { routes: [{ match: ways, handle: [then] }, { handle: [FAILED] }] }
  return { handler: 'subroute', routes: [{ handle: [first] }], errors }
}

function plainText(status: number | string, text: string): Json {
  const headers = { 'Content-Type': ['text/plain; charset=utf-8'] }
  return { handler: 'static_response', status_code: status, headers, body: `${text}\n` }
}
const UNAVAILABLE = plainText(503, 'Service Unavailable')
const FAILED = plainText('{http.error.status_code}', '{http.error.status_text}')

const drop = (...names: string[]): Json => ({
  handler: 'headers',
  request: { delete: names.flatMap(spellingsOf) },
})
const READ_HOP = { handler: 'vars', hop: `{http.request.header.${HOP_HEADER}}` }
/** Accepts headers that state hops and the original client: only routers of the tenant reach this server. */
const TRUST: readonly Json[] = [
  { handle: [READ_HOP, READ_POOL] },
  { handle: [drop(HOP_HEADER, POOL_HEADER)] },
]

/** Removes headers that state hops and the original client, except from requests to the peer address. */
function distrust(peerListen: string | undefined): Json[] {
  if (peerListen === undefined) return [{ handle: [drop(HOP_HEADER, POOL_HEADER, ...FORWARDED)] }]
  const forwarded = { vars: { '{http.request.local.port}': [String(portOf(peerListen))] } }
  return [
    { match: [forwarded], handle: [READ_HOP, READ_POOL] },
    { match: [{ not: [forwarded] }], handle: [drop(...FORWARDED)] },
    { handle: [drop(HOP_HEADER, POOL_HEADER)] },
  ]
}

/** Limits how often nodes forward a request: nodes whose route tables differ could forward the request in circles. */
function countHop(): Json[] {
  const [first, second, last] = HOPS
  const set = (hop: string): Json[] => [{ handler: 'headers', request: { set: { [HOP_HEADER]: [hop] } } }]
  return [
    { match: [{ vars: { hop: [last] } }], handle: [UNAVAILABLE] },
    { group: 'hop', match: [{ vars: { hop: [second] } }], handle: set(last) },
    { group: 'hop', match: [{ vars: { hop: [first] } }], handle: set(second) },
    { group: 'hop', handle: set(first) },
  ]
}

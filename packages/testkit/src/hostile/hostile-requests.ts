// Generates hostile requests from a seed, which determines the kind of request, the endpoint and the caller.

import { bendBody, hugeBody } from './hostile-bodies.ts'
import { hostileHeaders, hostileMethod, hostilePath, hostileQuery } from './hostile-heads.ts'
import type { Random } from './random.ts'

export interface HostileRequest {
  readonly kind: 'body' | 'huge' | 'head' | 'query' | 'path' | 'method' | 'framing'
  readonly method: string
  readonly bytes: Buffer
  /** True if the request needs its own connection, because the server cannot know where the next request would begin. */
  readonly alone: boolean
  /** True if the client ends its side of the connection after the bytes of the request. */
  readonly half: boolean
}

export interface Targets {
  readonly token: string
  readonly tenant: string
  readonly platformToken: string
  /** A tenant whose own record the hostile requests may change. */
  readonly victim: string
  readonly image: string
  /** Name of an existing deployment. */
  readonly deployment: string
  readonly registryHost: string
}

interface Target {
  readonly method: string
  readonly path: string
  readonly token: string
  readonly sound: { [key: string]: unknown }
}

export interface HostileOptions {
  /** Share of otherwise acceptable bodies to which an unknown field is added, so that the server rejects them. */
  readonly refused: number
  /** Share of requests with a body of about one mebibyte. */
  readonly huge: number
}

export function hostileRequest(
  random: Random,
  targets: Targets,
  index: number,
  { refused, huge }: HostileOptions,
): HostileRequest {
  const target = pickTarget(random, targets, index)
  if (random.chance(huge)) return send('huge', target, { body: hugeBody(random, target.sound) })
  const kind = random.below(20)
  if (kind < 11) return send('body', target, { body: bendBody(random, target.sound, random.chance(refused)) })
  const body = Buffer.from(JSON.stringify({ ...target.sound, zz_unknown: 1 }))
  const read = { ...target, method: 'GET', path: random.pick(READS) }
  if (kind < 14)
    return send('head', random.chance(0.5) ? target : read, { body, headers: hostileHeaders(random) })
  if (kind < 16)
    return send('query', random.chance(0.5) ? target : read, { body, query: hostileQuery(random) })
  if (kind < 18) return send('path', { ...read, path: hostilePath(random) }, {})
  if (kind < 19) return send('method', { ...target, method: hostileMethod(random) }, { body })
  return misframed(random, target, body)
}

const READS = [
  '/api/v1/deployments',
  '/api/v1/events',
  '/api/v1/audit',
  '/api/v1/quotas',
  '/api/v1/registries',
  '/api/v1/errors',
  '/api/v1/nodes',
] as const

function pickTarget(random: Random, targets: Targets, index: number): Target {
  const { token, tenant, platformToken, victim, image, deployment, registryHost } = targets
  const of = (method: string, path: string, sound: Target['sound'], by = token): Target => ({
    method,
    path,
    sound,
    token: by,
  })
  const which = random.below(22)
  if (which === 20) return of('POST', '/api/v1/nodes/join-tokens', newJoinToken(index))
  if (which === 21) return of('POST', '/api/v1/nodes/enroll', newEnrollment(index))
  if (which < 11) return of('POST', '/api/v1/deployments', fullDeployment(`h${index}`, image))
  if (which < 15) return of('PUT', `/api/v1/deployments/${deployment}`, fullDeployment(deployment, image))
  if (which < 17) return of('POST', `/api/v1/tenants/${tenant}/tokens`, newToken())
  if (which < 18)
    return of('PATCH', `/api/v1/tenants/${victim}`, { name: 'victim', quotas: { nodes: 5 } }, platformToken)
  if (which < 19) return of('POST', '/api/v1/tenants', { name: 'another', zz_unknown: 1 }, platformToken)
  return of('PUT', `/api/v1/registries/${registryHost}/credential`, { username: 'u', password: 'p' })
}

const newToken = () => ({ name: 'hostile', role: 'viewer', expiresAt: '2099-01-01T00:00:00Z' })

const newJoinToken = (index: number) => ({
  nodeName: `h${index}`,
  residency: { country: 'DE', region: 'eu' },
  controlPlane: false,
})

const newEnrollment = (index: number) => ({
  nodeName: `h${index}`,
  joinToken: `hfj_${'0'.repeat(26)}_${'A'.repeat(43)}`,
  publicKey: 'A'.repeat(43),
  encryptionKey: 'A'.repeat(43),
  labels: { rack: 'a' },
  engine: { version: '29.5.1', apiVersion: '1.56' },
  capacity: { cpuMillis: 4000, memoryBytes: 1024 },
})

function fullDeployment(name: string, image: string): { [key: string]: unknown } {
  return {
    kind: 'Deployment',
    name,
    image,
    replicas: 1,
    healthCheck: { type: 'exec', command: ['true', 'x'], retries: 3, timeout: '10s', interval: '30s' },
    environment: { LOG_LEVEL: 'debug', REGION: 'eu' },
    secrets: [],
    secretsVersion: 0,
    volumes: [],
    placement: {
      constraints: [{ label: 'rack', operator: 'in', values: ['a'] }],
      spread: 'rack',
      affinity: [],
    },
    dependsOn: {},
    resources: { cpuMillis: 100, memoryBytes: 1024 },
    limits: { cpuMillis: 200 },
    update: { order: 'start-first', parallelism: 1, failureAction: 'rollback', progressDeadline: '300s' },
    labels: { 'example.com/team': 'a' },
    command: ['/bin/sh'],
    args: ['-c', 'sleep 1'],
    stopGracePeriod: '10s',
  }
}

interface Extra {
  readonly body?: Buffer
  readonly headers?: readonly string[]
  readonly query?: string
}

const HEAD_KINDS: ReadonlySet<HostileRequest['kind']> = new Set(['head', 'path', 'method', 'framing'])

function send(
  kind: HostileRequest['kind'],
  target: Target,
  { body, headers = [], query }: Extra,
): HostileRequest {
  const carries = body !== undefined && target.method !== 'GET'
  const head = [
    `${target.method} ${target.path}${query === undefined ? '' : `?${query}`} HTTP/1.1`,
    'Host: 127.0.0.1',
    `Authorization: Bearer ${target.token}`,
    ...(carries ? ['Content-Type: application/json', `Content-Length: ${body.length}`] : []),
    ...headers,
    '',
    '',
  ].join('\r\n')
  const bytes = Buffer.concat([Buffer.from(head), carries ? body : Buffer.alloc(0)])
  return { kind, method: target.method, bytes, alone: HEAD_KINDS.has(kind), half: false }
}

type Framing = readonly [headers: string, content: string]
type Framings = readonly [Framing, ...Framing[]]

/**
 * Requests with a wrong, repeated or missing length. The client ends its side, so that the server does not wait for
 * further bytes.
 */
function misframed(random: Random, { method, path, token }: Target, body: Buffer): HostileRequest {
  const size = body.length.toString(16)
  const chunked = `${size}\r\n${body}\r\n0\r\n\r\n`
  const framings: Framings = [
    ['Content-Length: 5\r\nTransfer-Encoding: chunked', chunked],
    ['Content-Length: 5\r\nContent-Length: 6', `${body}`],
    [`Content-Length: ${body.length + 50}`, `${body}`],
    [`Content-Length: ${body.length - 5}`, `${body}`],
    ['Transfer-Encoding: chunked', chunked],
    ['Transfer-Encoding: chunked', chunked.slice(0, -4)],
    ['Transfer-Encoding: chunked', chunked.replace(size, 'fffffffffffffffff')],
    ['Transfer-Encoding: chunked', chunked.replace(size, `-${size}`)],
    ['Transfer-Encoding: chunked', chunked.replace(size, `${size};a=${'b'.repeat(100)}`)],
    ['Transfer-Encoding: chunked', chunked.replace(size, `${size};${'b'.repeat(20_000)}`)],
    ['Transfer-Encoding: chunked', chunked.replaceAll('\r\n', '\n')],
    ['Transfer-Encoding: identity', `${body}`],
    ['', `${body}`],
  ]
  const [headers, content] = random.pick(framings)
  const bytes = `${method} ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n${headers}\r\n\r\n${content}`
  return { kind: 'framing', method, bytes: Buffer.from(bytes), alone: true, half: true }
}

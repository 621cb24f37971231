// Resolves the Authorization header for a registry's challenge: Basic for the registry itself, or a token from an allowed
// token server. A challenge that names any other token server is rejected before a connection is opened.

import { isRepository, parseRegistryHost } from '@holdfast/core'
import type { RegistryCredential, UnreachableCause } from '../../ports/registry.ts'
import type { AllowedRegistry } from './allow-list.ts'
import { chooseChallenge } from './challenge.ts'
import { type ExchangeAnswer, exchange, type Origin } from './http-exchange.ts'

export type Authorization =
  | { readonly kind: 'header'; readonly value: string }
  | { readonly kind: 'refused'; readonly cause: UnreachableCause }

export interface AuthorizeRequest {
  readonly registry: AllowedRegistry
  readonly repository: string
  readonly credential: RegistryCredential | undefined
  readonly signal: AbortSignal
}

const TOKEN_CAP = 64 * 1024
/** Matches a token with the characters and the length that are valid in an HTTP header. */
const TOKEN = /^[\x21-\x7e]{1,16384}$/
const REALM_PATH = /^\/[A-Za-z0-9._~/-]{0,512}$/

export async function resolveAuthorization(
  challenged: ExchangeAnswer,
  request: AuthorizeRequest,
): Promise<Authorization> {
  const challenge = chooseChallenge(challenged.headers['www-authenticate'] ?? [])
  if (challenge === undefined) return refused('challenge_invalid')
  if (challenge.kind === 'bearer') return resolveToken(challenge.realm, challenge.service, request)
  if (request.credential === undefined) return refused('unauthorized')
  return { kind: 'header', value: basic(request.credential) }
}

async function resolveToken(
  realm: string,
  service: string | undefined,
  request: AuthorizeRequest,
): Promise<Authorization> {
  const place = findRealm(realm, request.registry)
  if (place === undefined || !isRepository(request.repository)) return refused('realm_refused')
  const query = new URLSearchParams({ scope: `repository:${request.repository}:pull` })
  if (service !== undefined) query.set('service', service)
  const answer = await exchange(place.origin, {
    method: 'GET',
    path: `${place.path}?${query}`,
    headers: request.credential === undefined ? {} : { authorization: basic(request.credential) },
    signal: request.signal,
    capBytes: TOKEN_CAP,
  })
  return answer.kind === 'failed' ? refused(answer.cause) : readToken(answer)
}

/** Finds the allowed token server. A realm with userinfo, query, fragment or unusual path is rejected, not repaired. */
function findRealm(
  realm: string,
  registry: AllowedRegistry,
): { readonly origin: Origin; readonly path: string } | undefined {
  const scheme = registry.origin.secure ? 'https://' : 'http://'
  if (!realm.startsWith(scheme)) return undefined
  const address = realm.slice(scheme.length)
  const slash = address.indexOf('/')
  const path = slash === -1 ? '/' : address.slice(slash)
  const host = canonicalHost(slash === -1 ? address : address.slice(0, slash), registry.origin.secure)
  const origin = host === undefined ? undefined : registry.realms.get(host)
  const plain = REALM_PATH.test(path) && !path.includes('/..')
  return origin === undefined || !plain ? undefined : { origin, path }
}

/** Canonical `host:port`. For plain HTTP, port 80 is added first, because parseRegistryHost would add port 443. */
function canonicalHost(text: string, secure: boolean): string | undefined {
  return parseRegistryHost(secure || /:\d+$/.test(text) ? text : `${text}:80`)
}

function readToken(answer: ExchangeAnswer): Authorization {
  if (answer.status !== 200) return refused(explainStatus(answer.status))
  const token = tokenIn(answer.body)
  return token === undefined ? refused('answer_invalid') : { kind: 'header', value: `Bearer ${token}` }
}

function tokenIn(body: Buffer): string | undefined {
  try {
    const found: unknown = JSON.parse(body.toString('utf8'))
    if (typeof found !== 'object' || found === null) return undefined
    const token = 'token' in found ? found.token : 'access_token' in found ? found.access_token : undefined
    return typeof token === 'string' && TOKEN.test(token) ? token : undefined
  } catch {
    // A body that is not JSON makes the response of the token server invalid.
    return undefined
  }
}

export function explainStatus(status: number): UnreachableCause {
  if (status === 401) return 'unauthorized'
  if (status === 403) return 'forbidden'
  if (status === 429) return 'rate_limited'
  if (status >= 300 && status < 400) return 'redirect'
  return status >= 500 ? 'server_error' : 'answer_invalid'
}

function basic(credential: RegistryCredential): string {
  const pair = `${credential.username}:${credential.password.reveal()}`
  return `Basic ${Buffer.from(pair, 'utf8').toString('base64')}`
}

function refused(cause: UnreachableCause): Authorization {
  return { kind: 'refused', cause }
}

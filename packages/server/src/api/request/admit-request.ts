// The checks of a request before its body, in their public order: authentication, path and method, headers, role, query.
// Size and syntax of the body follow in read-body.ts. See docs/design/admission.md#order.

import { defined, isTenantId, type Json, type Rejection, type TenantId } from '@holdfast/contract'
import { may, reject, tokensThatMay } from '@holdfast/core'
import { type Caller, limited } from '../../operations/caller.ts'
import type { ApiRequest, DescribedEndpoint, Endpoint, OpenEndpoint } from '../endpoint.ts'
import type { RejectedResponse } from '../reply.ts'
import { type Authenticate, type Credential, SAME_ORIGIN, type SentCredentials } from './authenticate.ts'
import { type ChosenTenant, chooseTenant } from './choose-tenant.ts'
import type { HoldBack } from './hold-back.ts'
import { readQuery } from './query-parameters.ts'
import type { RateLimit } from './rate-limit.ts'

export interface RequestHead {
  readonly headers: { readonly [name: string]: string | string[] | undefined }
  readonly params: { readonly [name: string]: string }
  readonly rawQuery: string
  readonly requestId: string
}

export interface Gate {
  authenticate: Authenticate
  rateLimit: RateLimit
  holdBack: HoldBack
  /** The tenant with an id or name; undefined if there is none. */
  findTenant(idOrName: string): TenantId | undefined
  /** Brings the data that `findTenant` reads up to date. */
  fresh(): Promise<void>
  /** Reports whether the cache still has the token and the sign-in of a caller; revoked ones are missing from it. */
  isLive(caller: Pick<Caller, 'token' | 'signIn'>): boolean
  /** Notes that a browser used its sign-in, which would end as idle otherwise. */
  noteUse(signIn: string): void
}

export type Admitted = Omit<ApiRequest, 'body'>
export type Admission<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly rejected: RejectedResponse }

/** Authenticates a request before its path is looked up, so that callers without a token learn nothing about paths. */
export async function identify(gate: Gate, head: RequestHead): Promise<Admission<Credential>> {
  const credential = await gate.authenticate(credentialsOf(head.headers))
  if ('code' in credential) return stop(credential, { 'www-authenticate': 'Bearer realm="holdfast"' })
  const { token, signIn } = credential
  const waitSeconds = gate.rateLimit.admit(bucketOf(credential), token.tenant)
  if (waitSeconds > 0) {
    await gate.holdBack(token.tenant)
    return { ok: false, rejected: limited('Authorization', waitSeconds) }
  }
  if (signIn !== undefined) gate.noteUse(signIn)
  return { ok: true, value: credential }
}

/** Browsers have a bucket of their own, so that an open dashboard does not slow down scripts with the same token. */
const bucketOf = ({ token, signIn }: Credential): string =>
  signIn === undefined ? token.id : `${token.id} in browsers`

/** The headers of a request from which its caller is known. */
export const credentialsOf = (headers: RequestHead['headers']): SentCredentials =>
  defined({
    authorization: single(headers['authorization']),
    cookie: single(headers['cookie']),
    fetchSite: single(headers['sec-fetch-site']),
  })

/** Checks the headers and query of a request without an API token. */
export function admitOpenRequest(endpoint: OpenEndpoint, head: RequestHead): Admission<undefined> {
  const headers = readHeaders(endpoint, head)
  if ('code' in headers) return stop(headers)
  const fetchSite = single(head.headers['sec-fetch-site'])
  if (endpoint.sameOrigin && fetchSite !== SAME_ORIGIN)
    return stop(invalid('Sec-Fetch-Site', fetchSite ?? '', SAME_ORIGIN_ONLY))
  const query = readQuery(head.rawQuery, endpoint.query)
  return query.ok ? { ok: true, value: undefined } : { ok: false, rejected: { rejections: query.rejections } }
}

export async function admitRequest(
  gate: Gate,
  endpoint: Endpoint,
  head: RequestHead,
  credential: Credential,
): Promise<Admission<Admitted>> {
  const tenant = await resolveTenant(gate, endpoint, head, credential)
  if (!tenant.ok) return stop(tenant.rejection)
  const headers = readHeaders(endpoint, head)
  if ('code' in headers) return stop(headers)
  const { role, id: token, name: tokenName } = credential.token
  const { signIn } = credential
  if (!may(role, endpoint.action))
    return stop(
      reject('permission_denied', 'Authorization', undefined, {
        accepted: tokensThatMay(endpoint.action),
      }),
    )
  const query = readQuery(head.rawQuery, endpoint.query)
  if (!query.ok) return { ok: false, rejected: { rejections: query.rejections } }
  if (endpoint.refusal !== undefined) return stop(endpoint.refusal)
  const caller: Caller = {
    tenant: tenant.tenant,
    onBehalf: tenant.onBehalf,
    token,
    tokenName,
    role,
    requestId: head.requestId,
    ...defined({ signIn }),
  }
  const charge = (requests: number): void =>
    gate.rateLimit.charge(bucketOf(credential), credential.token.tenant, requests)
  return { ok: true, value: { caller, params: head.params, query: query.query, charge, ...headers } }
}

/** The cache is refreshed before an administrator gets a 404: another server replica may have just created the tenant. */
async function resolveTenant(
  gate: Gate,
  { tenantRequired }: Endpoint,
  head: RequestHead,
  credential: Credential,
): Promise<ChosenTenant> {
  const header = single(head.headers['x-tenant-id'])
  const { missing, malformed } = tenantRequired ?? {}
  const code = header === undefined || header === '' ? missing : malformed
  if (code !== undefined && !isTenantId(header ?? ''))
    return { ok: false, rejection: reject(code, 'X-Tenant-ID', header) }
  const choice = {
    credential,
    header,
    path: head.params['tenant'],
    find: gate.findTenant,
  }
  const chosen = chooseTenant(choice)
  if (chosen.ok || chosen.rejection.code !== 'tenant_not_found') return chosen
  if (credential.token.role !== 'platform-admin') return chosen
  await gate.fresh()
  return chooseTenant(choice)
}

interface ConditionalHeaders {
  readonly ifMatch?: string
  readonly idempotencyKey?: string
  readonly lastEventId?: string
}

const SAME_ORIGIN_ONLY =
  'same-origin, which browsers send for pages of this server at its https address or at localhost; scripts send Authorization instead of signing in'
const ETAG = /^(?:\*|"\d{1,15}")$/
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/
const EVENT_ID = /^[\x21-\x7e]{1,64}$/
const HOST = /^[A-Za-z0-9.:_[\]-]{1,255}$/
const JSON_CONTENT = /^application\/json(?:\s*;\s*charset=(?:utf-8|"utf-8"))?$/i

function readHeaders(endpoint: DescribedEndpoint, { headers }: RequestHead): ConditionalHeaders | Rejection {
  const unusable = checkMessageHeaders(headers)
  if (unusable !== undefined) return unusable
  const contentType = single(headers['content-type'])
  if (endpoint.body !== undefined && contentType !== undefined && !JSON_CONTENT.test(contentType)) {
    return invalid('Content-Type', contentType, 'application/json, or none')
  }
  const ifMatch = endpoint.method === 'GET' ? undefined : single(headers['if-match'])
  if (ifMatch !== undefined && !endpoint.headers.includes('If-Match'))
    return invalid('If-Match', ifMatch, 'no If-Match: this resource has no revision to compare')
  if (ifMatch !== undefined && !ETAG.test(ifMatch))
    return invalid('If-Match', ifMatch, 'one ETag from an earlier response, for example "3", or *')
  const key = endpoint.headers.includes('Idempotency-Key') ? single(headers['idempotency-key']) : undefined
  if (key !== undefined && !IDEMPOTENCY_KEY.test(key))
    return invalid('Idempotency-Key', key, '1 to 255 visible ASCII characters')
  const eventId = endpoint.headers.includes('Last-Event-ID') ? single(headers['last-event-id']) : undefined
  // An empty Last-Event-ID is accepted, because a browser that has not received an event yet may send an empty header.
  if (eventId !== undefined && eventId !== '' && !EVENT_ID.test(eventId))
    return invalid('Last-Event-ID', eventId, 'the id of an event from the stream')
  return defined({ ifMatch, idempotencyKey: key, lastEventId: eventId === '' ? undefined : eventId })
}

/** Rejects encodings and framings that a proxy could interpret differently from this server. */
function checkMessageHeaders(headers: RequestHead['headers']): Rejection | undefined {
  const host = single(headers['host']) ?? ''
  if (!HOST.test(host)) return invalid('Host', host, 'one host, with an optional port')
  const transfer = single(headers['transfer-encoding'])
  if (transfer !== undefined && transfer.toLowerCase() !== 'chunked')
    return invalid('Transfer-Encoding', transfer, 'chunked, or none')
  const content = single(headers['content-encoding'])
  if (content !== undefined && content.toLowerCase() !== 'identity')
    return invalid('Content-Encoding', content, 'identity, or none')
  const expect = single(headers['expect'])
  if (expect !== undefined && expect.toLowerCase() !== '100-continue')
    return invalid('Expect', expect, '100-continue, or none')
  return undefined
}

function invalid(name: string, received: Json, accepted: string): Rejection {
  return reject('header_invalid', name, received, { accepted })
}

/** Joins repeated headers with a comma, which no accepted value contains, so that a repeated header is rejected. */
function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value
}

function stop(
  rejection: Rejection,
  headers: { readonly [name: string]: string } = {},
): { ok: false; rejected: RejectedResponse } {
  return { ok: false, rejected: { rejections: [rejection], headers } }
}

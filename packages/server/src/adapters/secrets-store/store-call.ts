// One call of the secrets store's HTTP API under a deadline. Error texts of the store are dropped, because they may quote the
// request. Only features that OpenBao and Vault share are used.

import { defined } from '@holdfast/contract'
import { untilAborted } from '../../lib/with-deadline.ts'
import type { ClientTls, CurrentTls } from '../../ports/client-tls.ts'
import type { Secret } from '../../ports/secret.ts'
import type { Absent, Denied, Unavailable, UnavailableCause } from '../../ports/secrets-store.ts'
import {
  createOrigin,
  type ExchangeAnswer,
  type ExchangeFailure,
  exchange,
  type Origin,
} from '../registry/http-exchange.ts'

export interface StoreCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path below /v1/ in the store's API, built from checked segments. */
  readonly path: string
  /** Body of the request, as JSON text. */
  readonly body?: string
  readonly signal: AbortSignal
}

/** Outcome of a call. `refused` is a 400: the store rejected the request, for example because of a stale `cas`. */
export type CallOutcome =
  | { readonly kind: 'ok'; readonly body: unknown }
  | { readonly kind: 'refused' }
  | Absent
  | Denied
  | Unavailable

export interface StoreAddress {
  /** Has the current authorities: a request after their replacement opens a new connection. */
  readonly origin: Origin
  readonly namespace: string | undefined
}

/** The system's authorities. */
const NO_TLS: ClientTls = {}

/** Maximum size of a response. Documents are at most 512 KiB and stay below this size when escaped and wrapped. */
const CAP_BYTES = 8 * 1024 * 1024

export function openAddress(
  address: string,
  namespace: string | undefined,
  tls: CurrentTls = () => NO_TLS,
): StoreAddress {
  const url = new URL(address)
  const secure = url.protocol === 'https:'
  const plain = url.pathname === '/' && url.search === '' && url.username === '' && url.password === ''
  if (!plain || !(secure || url.protocol === 'http:')) {
    throw new TypeError('the address of the secrets store must be a URL with scheme, host and port only')
  }
  const host = `${url.hostname}:${url.port || (secure ? 443 : 80)}`
  let used = tls()
  const open = ({ ca }: ClientTls) => createOrigin({ secure, host, ...defined({ ca }) })
  let origin = open(used)
  return {
    namespace,
    get origin() {
      // Pending requests end on the previous connections, which close when they are idle.
      if (used !== tls()) {
        used = tls()
        origin = open(used)
      }
      return origin
    },
  }
}

export async function callStore(
  to: StoreAddress,
  call: StoreCall,
  token: Secret | undefined,
): Promise<CallOutcome> {
  const answer = await exchange(to.origin, {
    method: call.method,
    path: `/v1/${call.path}`,
    headers: {
      'x-vault-request': 'true',
      ...defined({
        'content-type': call.body === undefined ? undefined : mediaTypeOf(call),
        'x-vault-token': token?.reveal(),
        'x-vault-namespace': to.namespace,
      }),
    },
    ...defined({ body: call.body }),
    signal: call.signal,
    capBytes: CAP_BYTES,
  })
  return answer.kind === 'failed' ? explainLoss(answer, call) : classifyAnswer(answer, call)
}

const ANSWER_MS = 5_000

/** Whether the store answers at all, sealed or not: then this process accepts its certificate. Opens a new connection. */
export async function answersStore(address: StoreAddress): Promise<boolean> {
  const { origin } = address
  const signal = AbortSignal.timeout(ANSWER_MS)
  const call = { method: 'GET', path: '/v1/sys/health', headers: {}, signal, capBytes: CAP_BYTES } as const
  const answer = await exchange(origin, call)
  origin.agent.destroy()
  return answer.kind === 'answer'
}

/** The store accepts a PATCH only as a JSON merge patch. */
const mediaTypeOf = ({ method }: StoreCall): string =>
  method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'

function explainLoss(failure: ExchangeFailure, call: StoreCall): Unavailable {
  const cause = failure.cause === 'address_refused' ? 'connection' : failure.cause
  return unavailable(cause, failure.sent && call.method !== 'GET' ? 'unknown' : 'no')
}

function classifyAnswer({ status, body }: ExchangeAnswer, call: StoreCall): CallOutcome {
  if (status === 400 || refusesSecretId(status, body, call)) return { kind: 'refused' }
  if (status === 403) return { kind: 'denied' }
  if (status === 404) return { kind: 'absent' }
  if (status === 413) return unavailable('too_large', 'no')
  if (status === 429) return unavailable('rate_limited', 'no')
  // After a 5xx the store may still have applied a write, so the outcome of a write is unknown.
  const applied = call.method === 'GET' ? 'no' : 'unknown'
  if (status === 503) return unavailable('sealed', applied)
  if (status >= 500) return unavailable('server_error', applied)
  if (status < 200 || status >= 300) return unavailable('answer_invalid', applied)
  const parsed = parseBody(body)
  return parsed === undefined ? unavailable('answer_invalid', applied) : { kind: 'ok', body: parsed.value }
}

/** Vault 1.13 answers 500 to a login with a secret id that has ended or was destroyed. */
function refusesSecretId(status: number, body: Buffer, { path }: StoreCall): boolean {
  if (status !== 500 || path !== 'auth/approle/login') return false
  const errors = member(parseBody(body)?.value, 'errors')
  return Array.isArray(errors) && errors.includes('invalid secret id')
}

function parseBody(body: Buffer): { value: unknown } | undefined {
  if (body.length === 0) return { value: undefined }
  try {
    return { value: JSON.parse(body.toString('utf8')) }
  } catch {
    // For a body that is not JSON the caller returns answer_invalid.
    return undefined
  }
}

export function unavailable(cause: UnavailableCause, applied: Unavailable['applied']): Unavailable {
  return { kind: 'unavailable', cause, applied }
}

/** Returns the member of a JSON value that the path `keys` names, or undefined. */
export function member(value: unknown, ...keys: readonly string[]): unknown {
  let found = value
  for (const key of keys) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined
    found = Object.getOwnPropertyDescriptor(found, key)?.value
  }
  return found
}

/** Stops waiting for shared work when `signal` aborts. The shared work continues and has its own deadline. */
export function withinDeadline<T>(work: Promise<T>, signal: AbortSignal): Promise<T | Unavailable> {
  return untilAborted(signal, work, () => unavailable('timeout', 'no'))
}

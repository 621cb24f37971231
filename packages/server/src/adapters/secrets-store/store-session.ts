// The token for calls to the secrets store: a configured token, or a token from an AppRole login. The session logs in at
// the first call, renews before expiry and logs in again after a revocation. There are no timers.

import { type Secret, secret } from '../../ports/secret.ts'
import type { Denied, Unavailable } from '../../ports/secrets-store.ts'
import { type CallOutcome, callStore, member, type StoreAddress, unavailable } from './store-call.ts'

export type StoreAuth = { readonly roleId: string; readonly secretId: Secret } | { readonly token: Secret }

export interface Granted {
  readonly kind: 'token'
  readonly token: Secret
}

export interface StoreSession {
  current(): Promise<Granted | Unavailable>
  /** To be called after a 403: returns a new token if `used` is no longer valid, and `denied` if `used` is valid. */
  replace(used: Secret): Promise<Granted | Denied | Unavailable>
  readonly logins: number
}

interface Lease {
  readonly token: Secret
  readonly renewAt: number
  readonly endsAt: number
}

export interface SessionOptions {
  readonly address: StoreAddress
  readonly auth: StoreAuth
  readonly deadlineMs: number
  readonly nowMs: () => number
}

export function openSession(options: SessionOptions): StoreSession {
  const { auth } = options
  if (!('roleId' in auth)) {
    const given: Granted = { kind: 'token', token: auth.token }
    return { current: async () => given, replace: async () => ({ kind: 'denied' }), logins: 0 }
  }
  return openRoleSession(options, auth)
}

function openRoleSession(options: SessionOptions, auth: { roleId: string; secretId: Secret }): StoreSession {
  let lease: Lease | undefined
  let logins = 0
  const login = shareWhileRunning(async () => {
    const startedAt = options.nowMs()
    const body = JSON.stringify({ role_id: auth.roleId, secret_id: auth.secretId.reveal() })
    const answer = await post(options, 'auth/approle/login', body, undefined)
    lease = leaseOf(answer, undefined, startedAt)
    if (lease !== undefined) logins += 1
    return lease === undefined ? explainLogin(answer) : granted(lease)
  })
  /** Checks that the token is valid, and extends the token's lifetime. */
  const renew = shareWhileRunning(async (): Promise<CallOutcome> => {
    const [held, startedAt] = [lease, options.nowMs()]
    if (held === undefined) return { kind: 'denied' }
    const answer = await post(options, 'auth/token/renew-self', '{}', held.token)
    if (lease === held) lease = leaseOf(answer, held.token, startedAt) ?? held
    return answer
  })
  const current = async (): Promise<Granted | Unavailable> => {
    const now = options.nowMs()
    if (lease === undefined || now >= lease.endsAt) return login()
    if (now >= lease.renewAt) void renew()
    return granted(lease)
  }
  const replace = async (used: Secret): Promise<Granted | Denied | Unavailable> => {
    if (lease !== undefined && lease.token !== used) return current()
    const alive = await renew()
    if (alive.kind === 'ok') return { kind: 'denied' }
    return alive.kind === 'unavailable' ? alive : login()
  }
  return {
    current,
    replace,
    get logins() {
      return logins
    },
  }
}

function post(
  options: SessionOptions,
  path: string,
  body: string,
  token: Secret | undefined,
): Promise<CallOutcome> {
  const signal = AbortSignal.timeout(options.deadlineMs)
  return callStore(options.address, { method: 'POST', path, body, signal }, token)
}

/** The lease of a token: the token is renewed after two thirds of its lifetime, and not used in the last tenth of it. */
function leaseOf(answer: CallOutcome, held: Secret | undefined, now: number): Lease | undefined {
  if (answer.kind !== 'ok') return undefined
  const token = member(answer.body, 'auth', 'client_token')
  const seconds = member(answer.body, 'auth', 'lease_duration')
  if (typeof token !== 'string' || typeof seconds !== 'number') return undefined
  const lifeMs = seconds === 0 ? Number.POSITIVE_INFINITY : seconds * 1000
  return { token: held ?? secret(token), renewAt: now + (lifeMs * 2) / 3, endsAt: now + lifeMs * 0.9 }
}

function explainLogin(answer: CallOutcome): Unavailable {
  if (answer.kind === 'unavailable') return { ...answer, applied: 'no' }
  return unavailable(answer.kind === 'ok' ? 'answer_invalid' : 'login_refused', 'no')
}

function granted(lease: Lease): Granted {
  return { kind: 'token', token: lease.token }
}

/** Makes concurrent calls share one run of `run`. */
function shareWhileRunning<T>(run: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined
  return () => {
    running ??= run().finally(() => {
      running = undefined
    })
    return running
  }
}

// The client of the secrets store, OpenBao or Vault: an address, an identity, and calls that end within a deadline. The
// files secrets-writer, secrets-reader and provision-platform make the calls.

import { performance } from 'node:perf_hooks'
import { withTimeoutSignal } from '../../lib/with-deadline.ts'
import type { CurrentTls } from '../../ports/client-tls.ts'
import type { Secret } from '../../ports/secret.ts'
import type { Done, SecretsStoreHealth, Unavailable } from '../../ports/secrets-store.ts'
import {
  type CallOutcome,
  callStore,
  openAddress,
  type StoreCall,
  unavailable,
  withinDeadline,
} from './store-call.ts'
import { openSession, type StoreAuth } from './store-session.ts'

export interface SecretsStoreClientOptions {
  /** Address of the secrets store: `https://host:port`. */
  readonly address: string
  /** Namespace inside the secrets store, if the store supports namespaces. */
  readonly namespace?: string
  /** The authorities that sign the store's certificate; default: the system's authorities. */
  readonly tls?: CurrentTls
  readonly auth: StoreAuth
  /** Deadline of one complete operation, including a login. */
  readonly deadlineMs?: number
  readonly nowMs?: () => number
}

export interface SecretsStoreClient extends SecretsStoreHealth {
  /** Runs one operation. All calls of the operation share the signal, which aborts at the deadline. */
  within<T>(operation: (signal: AbortSignal) => Promise<T>): Promise<T>
  /** Calls the store with the client's identity. After a 403 with an expired token the client logs in again, once. */
  call(call: StoreCall): Promise<CallOutcome>
  /** Calls the store with the token that the caller passes. */
  callAs(token: Secret, call: StoreCall): Promise<CallOutcome>
  /** Number of logins so far. The client logs in again when its token, and so each child token, is expired or revoked. */
  logins(): number
  nowMs(): number
  close(): void
}

export function createSecretsStoreClient(options: SecretsStoreClientOptions): SecretsStoreClient {
  const { deadlineMs = 5000, nowMs = () => performance.now() } = options
  const address = openAddress(options.address, options.namespace, options.tls)
  const session = openSession({ address, auth: options.auth, deadlineMs, nowMs })
  const call = async (request: StoreCall): Promise<CallOutcome> => {
    const first = await withinDeadline(session.current(), request.signal)
    if (first.kind !== 'token') return first
    const answer = await callStore(address, request, first.token)
    if (answer.kind !== 'denied') return answer
    const second = await withinDeadline(session.replace(first.token), request.signal)
    return second.kind === 'token' ? callStore(address, request, second.token) : second
  }
  return {
    within: (operation) => withTimeoutSignal(deadlineMs, operation),
    call,
    callAs: (token, request) => callStore(address, request, token),
    health: async () => {
      const path = 'sys/health?standbyok=true&perfstandbyok=true'
      const signal = AbortSignal.timeout(deadlineMs)
      return toHealth(await callStore(address, { method: 'GET', path, signal }, undefined))
    },
    logins: () => session.logins,
    nowMs,
    close: () => address.origin.agent.destroy(),
  }
}

function toHealth(answer: CallOutcome): Done | Unavailable {
  if (answer.kind === 'ok') return { kind: 'ok' }
  return answer.kind === 'unavailable' ? answer : unavailable('answer_invalid', 'no')
}

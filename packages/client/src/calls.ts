// The ways in which endpoints are called, each with its rule for repeating. Everything below /api/v1 goes through here.

import type { Json, Shape } from '@holdfast/contract'
import { callApi } from './call.ts'
import type { Connection } from './connection.ts'
import type { ApiCall } from './request.ts'
import type { Result } from './result.ts'

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

export interface ConditionalOptions extends CallOptions {
  /** The revision that was read: the write is refused when another one is stored by now. */
  readonly ifMatch?: string | undefined
}

export interface IntentOptions extends CallOptions {
  /** For an intent that outlives this call; else one is made. */
  readonly idempotencyKey?: string
}

type Query = ApiCall['query']

export interface Calls {
  get<T>(path: string, shape: Shape<T>, query?: Query, options?: CallOptions): Promise<Result<T>>
  /** Carries an Idempotency-Key, so it may be repeated. */
  post<T>(
    path: string,
    body: Json | undefined,
    shape: Shape<T>,
    options?: IntentOptions & ConditionalOptions,
  ): Promise<Result<T>>
  /** Changes nothing, so it may be repeated. */
  dryRun<T>(
    method: 'POST' | 'PUT',
    path: string,
    body: Json | undefined,
    shape: Shape<T>,
    options?: ConditionalOptions,
  ): Promise<Result<T>>
  /** Repeated only when the server said that it did not look. */
  write<T>(
    method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    shape: Shape<T>,
    sent?: { readonly body?: Json; readonly query?: Query },
    options?: ConditionalOptions,
  ): Promise<Result<T>>
}

export function createCalls(connection: Connection): Calls {
  const call = <T>(requests: ApiCall, shape: Shape<T>): Promise<Result<T>> =>
    callApi(connection, { ...requests, signal: requests.signal ?? connection.signal }, shape)
  return {
    get: (path, shape, query = {}, { signal } = {}) =>
      call({ method: 'GET', path, query, repeat: 'safe', signal }, shape),
    post: (path, body, shape, { signal, ifMatch, idempotencyKey = connection.runtime.newKey() } = {}) =>
      call({ method: 'POST', path, body, ifMatch, idempotencyKey, repeat: 'safe', signal }, shape),
    dryRun: (method, path, body, shape, { signal, ifMatch } = {}) =>
      call({ method, path, body, query: { dryRun: true }, ifMatch, repeat: 'safe', signal }, shape),
    write: (method, path, shape, { body, query = {} } = {}, { signal, ifMatch } = {}) =>
      call({ method, path, query, body, ifMatch, repeat: 'refused', signal }, shape),
  }
}

// The kinds of API calls, each with its retry rule. Every request below /api/v1 is sent by one of these functions.

import type { Json, Shape } from '@holdfast/contract'
import { callApi } from './call.ts'
import type { Connection } from './connection.ts'
import type { ApiCall } from './request.ts'
import type { Result } from './result.ts'

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  readonly headers?: { readonly [name: string]: string }
}

export interface ConditionalOptions extends CallOptions {
  /** The revision that the caller read. The server rejects the write if the stored revision is another one. */
  readonly ifMatch?: string | undefined
}

export interface IntentOptions extends CallOptions {
  /** The Idempotency-Key. Pass the key of an earlier call to repeat that call; by default a new key is generated. */
  readonly idempotencyKey?: string
}

type Query = ApiCall['query']

export interface Calls {
  get<T>(path: string, shape: Shape<T>, query?: Query, options?: CallOptions): Promise<Result<T>>
  /** A POST request. It carries an Idempotency-Key, so it may be retried. */
  post<T>(
    path: string,
    body: Json | undefined,
    shape: Shape<T>,
    options?: IntentOptions & ConditionalOptions,
  ): Promise<Result<T>>
  /** A request that changes nothing on the server, so it may be retried. */
  dryRun<T>(
    method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    shape: Shape<T>,
    sent?: { readonly body?: Json; readonly query?: Query },
    options?: ConditionalOptions,
  ): Promise<Result<T>>
  /** A POST request to an endpoint that never changes anything, so it may be retried. */
  judge<T>(path: string, body: Json, shape: Shape<T>, options?: CallOptions): Promise<Result<T>>
  /** A write without Idempotency-Key. Retried only if the server did not process the request (status 429). */
  write<T>(
    method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    shape: Shape<T>,
    sent?: { readonly body?: Json; readonly query?: Query },
    options?: ConditionalOptions,
  ): Promise<Result<T>>
}

export function createCalls(connection: Connection): Calls {
  const call = <T>(request: ApiCall, shape: Shape<T>): Promise<Result<T>> =>
    callApi(connection, { ...request, signal: request.signal ?? connection.signal }, shape)
  return {
    get: (path, shape, query = {}, { signal, headers = {} } = {}) =>
      call({ method: 'GET', path, query, repeat: 'safe', signal, headers }, shape),
    post: (path, body, shape, { signal, ifMatch, idempotencyKey = connection.runtime.newKey() } = {}) =>
      call({ method: 'POST', path, body, ifMatch, idempotencyKey, repeat: 'safe', signal }, shape),
    dryRun: (method, path, shape, { body, query = {} } = {}, { signal, ifMatch } = {}) =>
      call({ method, path, body, query: { ...query, dryRun: true }, ifMatch, repeat: 'safe', signal }, shape),
    judge: (path, body, shape, { signal } = {}) =>
      call({ method: 'POST', path, query: {}, body, repeat: 'safe', signal }, shape),
    write: (method, path, shape, { body, query = {} } = {}, { signal, ifMatch } = {}) =>
      call({ method, path, query, body, ifMatch, repeat: 'refused', signal }, shape),
  }
}

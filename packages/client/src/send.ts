// Sends one request without retries, within a deadline, and reports it to the observer of the connection.

import { defined } from '@holdfast/contract'
import type { Connection, Exchange } from './connection.ts'
import { explainNetworkError, type NetworkError } from './explain-network-error.ts'
import { type ApiCall, initOf, urlOf } from './request.ts'

export type Attempt =
  | { readonly kind: 'answer'; readonly response: Response }
  | ({ readonly kind: 'network-error' } & NetworkError)
  | { readonly kind: 'timeout' }
  | { readonly kind: 'interrupted' }

/** Sends a request. `deadline` aborts when the time is up; the signal of the call aborts if the caller stops. */
export async function send(connection: Connection, call: ApiCall, deadline: AbortSignal): Promise<Attempt> {
  const { runtime } = connection
  const signal = call.signal === undefined ? deadline : AbortSignal.any([call.signal, deadline])
  const startedAt = runtime.now()
  try {
    const response = await runtime.fetch(urlOf(connection, call), initOf(connection, call, signal))
    observe(connection, call, startedAt, response)
    return { kind: 'answer', response }
  } catch (error) {
    observe(connection, call, startedAt)
    return failureOf(call, deadline, error)
  }
}

/** Classifies a failed request: stopped by the caller, timed out, or a network error. */
export function failureOf(
  call: ApiCall,
  deadline: AbortSignal,
  error: unknown,
): Exclude<Attempt, { kind: 'answer' }> {
  if (call.signal?.aborted === true) return { kind: 'interrupted' }
  return deadline.aborted ? { kind: 'timeout' } : { kind: 'network-error', ...explainNetworkError(error) }
}

function observe(connection: Connection, call: ApiCall, startedAt: number, response?: Response): void {
  const requestId = response?.headers.get('x-request-id') ?? undefined
  const exchange: Exchange = {
    method: call.method,
    path: `/api/v1${call.path}`,
    tookMs: connection.runtime.now() - startedAt,
    ...defined({ status: response?.status, requestId }),
  }
  connection.observe?.(exchange)
}

// One attempt: the request goes out once, under a deadline, and is told to whoever observes.

import type { Connection, Exchange } from './connection.ts'
import { explainNetworkError, type NetworkError } from './explain-network-error.ts'
import { type ApiCall, initOf, urlOf } from './request.ts'

export type Attempt =
  | { readonly kind: 'answer'; readonly response: Response }
  | ({ readonly kind: 'network-error' } & NetworkError)
  | { readonly kind: 'timeout' }
  | { readonly kind: 'interrupted' }

/** `deadline` fires when time is up, the call's own signal when the caller gives up. */
export async function send(connection: Connection, call: ApiCall, deadline: AbortSignal): Promise<Attempt> {
  const { runtime } = connection
  const signal = call.signal === undefined ? deadline : AbortSignal.any([call.signal, deadline])
  const begun = runtime.now()
  try {
    const response = await runtime.fetch(urlOf(connection, call), initOf(connection, call, signal))
    observe(connection, call, begun, response)
    return { kind: 'answer', response }
  } catch (error) {
    observe(connection, call, begun)
    return failureOf(call, deadline, error)
  }
}

/** Why nothing came, or no more of it. */
export function failureOf(
  call: ApiCall,
  deadline: AbortSignal,
  error: unknown,
): Exclude<Attempt, { kind: 'answer' }> {
  if (call.signal?.aborted === true) return { kind: 'interrupted' }
  return deadline.aborted ? { kind: 'timeout' } : { kind: 'network-error', ...explainNetworkError(error) }
}

function observe(connection: Connection, call: ApiCall, begun: number, response?: Response): void {
  const requestId = response?.headers.get('x-request-id') ?? undefined
  const exchange: Exchange = {
    method: call.method,
    path: `/api/v1${call.path}`,
    tookMs: connection.runtime.now() - begun,
    ...(response === undefined ? {} : { status: response.status }),
    ...(requestId === undefined ? {} : { requestId }),
  }
  connection.observe?.(exchange)
}

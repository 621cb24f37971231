// One attempt: the request goes out once, under a deadline, and is told to whoever observes.

import type { Connection, Exchange } from './connection.ts'
import { explainSilence, type Silence } from './explain-silence.ts'
import { type ApiCall, initOf, urlOf } from './request.ts'

export type Attempt =
  | { readonly kind: 'answer'; readonly response: Response }
  | ({ readonly kind: 'silence' } & Silence)
  | { readonly kind: 'late' }
  | { readonly kind: 'interrupted' }

/** `deadline` fires when time is up, the call's own signal when the caller gives up. */
export async function send(connection: Connection, call: ApiCall, deadline: AbortSignal): Promise<Attempt> {
  const { world } = connection
  const signal = call.signal === undefined ? deadline : AbortSignal.any([call.signal, deadline])
  const begun = world.now()
  try {
    const response = await world.fetch(urlOf(connection, call), initOf(connection, call, signal))
    observe(connection, call, begun, response)
    return { kind: 'answer', response }
  } catch (error) {
    observe(connection, call, begun)
    return silenceOf(call, deadline, error)
  }
}

/** Why nothing came, or no more of it. */
export function silenceOf(
  call: ApiCall,
  deadline: AbortSignal,
  error: unknown,
): Exclude<Attempt, { kind: 'answer' }> {
  if (call.signal?.aborted === true) return { kind: 'interrupted' }
  return deadline.aborted ? { kind: 'late' } : { kind: 'silence', ...explainSilence(error) }
}

function observe(connection: Connection, call: ApiCall, begun: number, response?: Response): void {
  const requestId = response?.headers.get('x-request-id') ?? undefined
  const exchange: Exchange = {
    method: call.method,
    path: `/api/v1${call.path}`,
    tookMs: connection.world.now() - begun,
    ...(response === undefined ? {} : { status: response.status }),
    ...(requestId === undefined ? {} : { requestId }),
  }
  connection.observe?.(exchange)
}

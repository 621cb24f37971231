// Sends a request to an etcd member that can answer it. A request that may already have been sent is repeated only if it
// is a read (docs/design/store.md#members).

import { sleep } from '../../lib/sleep.ts'
import { EngineError } from '../../ports/key-value.ts'
import type { Authenticator } from './authenticator.ts'
import { classifyFailure, type Failure } from './classify-failure.ts'
import type { Endpoint, EndpointPool } from './endpoint-pool.ts'
import { metadataOf } from './metadata.ts'
import { callOnce } from './unary-call.ts'

export interface CallRequest<T> {
  readonly method: string
  readonly bytes: Buffer
  readonly decode: (bytes: Buffer) => T
  readonly deadlineMs: number
  /** True for a read, which may be sent again even if the first attempt reached etcd. */
  readonly repeatable: boolean
  /** If true, an etcd member without a leader refuses the request at once instead of holding it until the timeout. */
  readonly needsLeader: boolean
}

export interface CallDeps {
  readonly pool: EndpointPool
  readonly authenticator: Authenticator
}

/** Pause before a retry once all etcd members were tried, so that a leader election causes no burst of requests. */
const RETRY_PAUSE_MS = 50
/** Share of a read's remaining time that one etcd member may use, so that time is left to ask another member. */
const SHARE_OF_TIME = 0.5

export async function callWithFailover<T>(deps: CallDeps, request: CallRequest<T>): Promise<T> {
  const deadlineAt = performance.now() + request.deadlineMs
  let renewed = false
  for (let attempt = 1; ; attempt += 1) {
    const endpoint = await deps.pool.acquire(deadlineAt)
    const token = await deps.authenticator.token()
    const leftMs = deadlineAt - performance.now()
    if (leftMs <= 0)
      throw new EngineError('deadline', 'no', 'the deadline passed before the request was sent')
    const outcome = await attemptOn(deps, endpoint, request, token, leftMs)
    if (outcome.ok) return decodeResponse(request, outcome.bytes)
    const failure = classifyFailure(outcome.failed)
    if (failure.next === 'another_member') deps.pool.leave(endpoint)
    if (failure.next === 'fresh_token') deps.authenticator.discard(token)
    const again = mayRepeat(request, failure, renewed) && performance.now() + RETRY_PAUSE_MS < deadlineAt
    if (!again) throw errorOf(request, failure, `${endpoint.name}: ${outcome.failed.details}`)
    renewed ||= failure.next === 'fresh_token'
    if (attempt >= deps.pool.endpoints.length) await sleep(RETRY_PAUSE_MS)
  }
}

/** A transaction is sent to another etcd member only if the failed member has certainly not applied it. */
function mayRepeat<T>(request: CallRequest<T>, failure: Failure, renewed: boolean): boolean {
  if (failure.next === 'nowhere') return false
  if (failure.next === 'fresh_token') return !renewed
  return failure.applied === 'no' || request.repeatable
}

function errorOf<T>(request: CallRequest<T>, failure: Failure, message: string): EngineError {
  return new EngineError(failure.reason, request.repeatable ? 'no' : failure.applied, message)
}

function attemptOn<T>(
  deps: CallDeps,
  endpoint: Endpoint,
  request: CallRequest<T>,
  token: string | undefined,
  leftMs: number,
) {
  const alone = deps.pool.endpoints.length === 1 || !request.repeatable
  return callOnce(endpoint, {
    method: request.method,
    bytes: request.bytes,
    metadata: metadataOf(token, request.needsLeader),
    timeoutMs: alone ? leftMs : Math.max(leftMs * SHARE_OF_TIME, Math.min(leftMs, 500)),
    onSilence: () => deps.pool.leave(endpoint),
  })
}

/** Decodes etcd's response. If decoding fails, the outcome is unknown, because etcd may have applied the request. */
function decodeResponse<T>(request: CallRequest<T>, bytes: Buffer): T {
  try {
    return request.decode(bytes)
  } catch (error) {
    throw new EngineError('invalid', 'unknown', `${request.method}: unreadable response: ${String(error)}`)
  }
}

// Sends one request to one etcd member, exactly once and with a deadline.

import { type Metadata, type ServiceError, type StatusObject, status } from '@grpc/grpc-js'
import type { Endpoint } from './endpoint-pool.ts'

export interface UnaryRequest {
  readonly method: string
  readonly bytes: Buffer
  readonly metadata: Metadata
  readonly timeoutMs: number
  /** Called once if the member answers no call at all within one second after this request was sent. */
  onSilence(): void
}

export type UnaryOutcome =
  | { readonly ok: true; readonly bytes: Buffer }
  | { readonly ok: false; readonly failed: Pick<StatusObject, 'code' | 'details'> }

const SILENCE_MS = 1_000

const same = (bytes: Buffer) => bytes

export function callOnce(endpoint: Endpoint, request: UnaryRequest): Promise<UnaryOutcome> {
  const { client } = endpoint
  const sentAt = performance.now()
  const isSilent = () => endpoint.lastAnswerAt < sentAt
  return new Promise((resolve) => {
    const silence = setTimeout(() => isSilent() && request.onSilence(), SILENCE_MS)
    const settle = (error: ServiceError | null, bytes?: Buffer) => {
      clearTimeout(silence)
      if (isAnswer(error)) endpoint.lastAnswerAt = performance.now()
      else if (isTimeout(error) && isSilent() && endpoint.client === client) endpoint.renew()
      resolve(error || !bytes ? { ok: false, failed: failureOf(error) } : { ok: true, bytes })
    }
    const options = { deadline: Date.now() + request.timeoutMs }
    client.makeUnaryRequest(request.method, same, same, request.bytes, request.metadata, options, settle)
  })
}

function isAnswer(error: ServiceError | null): boolean {
  return error === null || error.details.startsWith('etcdserver: ')
}

const isTimeout = (error: ServiceError | null) => error?.code === status.DEADLINE_EXCEEDED

function failureOf(error: ServiceError | null): Pick<StatusObject, 'code' | 'details'> {
  return error ?? { code: status.INTERNAL, details: 'the member ended the call without a response' }
}

// How an outcome becomes an HTTP answer. The body of a "no" is the first rejection, with all of them under `rejections`
// (DECISIONS 2); its status is that of the first.

import { entryOf, type Rejection } from '@holdfast/contract'
import type { FastifyReply } from 'fastify'
import { isTainted } from '../ports/taint.ts'
import type { Answer, StreamedAnswer } from './endpoint.ts'

export interface Refusal {
  readonly rejections: readonly Rejection[]
  /** The first one answers with the second status of its catalogue entry. */
  readonly alternative?: boolean
  readonly headers?: { readonly [name: string]: string }
  readonly retryAfterSeconds?: number
}

const JSON_TYPE = 'application/json; charset=utf-8'

/** Our own invariant broke: the answer would have told what must not be told. */
class SecretLeakError extends Error {
  override readonly name = 'SecretLeakError'
}

export function sendJson(reply: FastifyReply, status: number, body: string): FastifyReply {
  if (isTainted(body)) throw new SecretLeakError('an answer held secret material')
  return reply.code(status).header('content-type', JSON_TYPE).send(body)
}

export function sendAnswer(reply: FastifyReply, { status, body, etag, type }: Answer): FastifyReply {
  if (etag !== undefined) void reply.header('etag', `"${etag}"`)
  if (typeof body === 'string')
    return reply
      .code(status)
      .header('content-type', type ?? 'text/plain')
      .send(body)
  return sendJson(reply, status, JSON.stringify(body))
}

/** Nobody on the way may keep it back or keep it at all; and when it ends, its connection does not keep a server from stopping. */
export function sendStream(reply: FastifyReply, { status, type, stream }: StreamedAnswer): FastifyReply {
  return reply
    .code(status)
    .headers({
      ...{ 'content-type': type, 'cache-control': 'no-store' },
      ...{ 'x-accel-buffering': 'no', connection: 'close' },
    })
    .send(stream)
}

export function sendRefusal(reply: FastifyReply, refusal: Refusal, publicUrl: string): FastifyReply {
  const [first] = refusal.rejections
  if (first === undefined) throw new TypeError('a refusal without a rejection')
  void reply.headers(refusalHeaders(refusal))
  const { status, alternativeStatus } = entryOf(first.code)
  const answered = refusal.alternative === true ? (alternativeStatus?.status ?? status) : status
  return sendJson(reply, answered, JSON.stringify(refusalBody(refusal.rejections, publicUrl)))
}

export function refusalHeaders({ headers, retryAfterSeconds }: Refusal): { [name: string]: string } {
  return { ...headers, ...(retryAfterSeconds === undefined ? {} : { 'retry-after': `${retryAfterSeconds}` }) }
}

/** `doc` is a path inside the product and an address on the wire. */
export function refusalBody(rejections: readonly Rejection[], publicUrl: string) {
  const linked = rejections.map((rejection) => ({ ...rejection, doc: `${publicUrl}${rejection.doc}` }))
  return { ...linked[0], rejections: linked }
}

// Sends an outcome as an HTTP response. The body of a rejected request is the first rejection, with all rejections under
// `rejections`; the status is that of the first. See docs/design/admission.md#rejections.

import { entryOf, type Rejection } from '@holdfast/contract'
import type { FastifyReply } from 'fastify'
import { isTainted, redactTaint } from '../ports/taint.ts'
import type { ApiResponse, StreamedResponse } from './endpoint.ts'

export interface RejectedResponse {
  readonly rejections: readonly Rejection[]
  /** If true, the response has the alternative HTTP status of the first rejection's code. */
  readonly alternative?: boolean
  readonly headers?: { readonly [name: string]: string }
  readonly retryAfterSeconds?: number
}

const JSON_TYPE = 'application/json; charset=utf-8'

/** A bug of the server: the response would have contained a secret value. */
class SecretLeakError extends Error {
  override readonly name = 'SecretLeakError'
}

/**
 * Sends a body without any secret value of the request. The write is already stored, and a value may equal a part of an
 * ordinary sentence, so the texts with a value are redacted instead of failing the request.
 */
export function sendJson(reply: FastifyReply, status: number, body: string): FastifyReply {
  return reply.code(status).header('content-type', JSON_TYPE).send(withoutMaterial(body))
}

function withoutMaterial(body: string): string {
  if (!isTainted(body)) return body
  const redacted = JSON.stringify(redactTaint(JSON.parse(body)))
  // A value that spans several members, or the number in one, cannot be redacted text by text.
  if (isTainted(redacted)) throw new SecretLeakError('the response contains secret material')
  return redacted
}

export function sendResponse(
  reply: FastifyReply,
  { status, body, etag, type, headers = {} }: ApiResponse,
): FastifyReply {
  void reply.headers(headers)
  if (etag !== undefined) void reply.header('etag', `"${etag}"`)
  if (typeof body === 'string')
    return reply
      .code(status)
      .header('content-type', type ?? 'text/plain')
      .send(body)
  return sendJson(reply, status, JSON.stringify(body))
}

/** Sends a stream that proxies must not buffer or store. The connection closes with it, so that the server can stop. */
export function sendStream(reply: FastifyReply, { status, type, stream }: StreamedResponse): FastifyReply {
  return reply
    .code(status)
    .headers({
      'content-type': type,
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      connection: 'close',
    })
    .send(stream)
}

export function sendRejections(
  reply: FastifyReply,
  rejected: RejectedResponse,
  publicUrl: string,
): FastifyReply {
  const [first] = rejected.rejections
  if (first === undefined) throw new TypeError('a rejected response needs at least one rejection')
  void reply.headers(rejectionHeaders(rejected))
  const { status, alternativeStatus } = entryOf(first.code)
  const code = rejected.alternative === true ? (alternativeStatus?.status ?? status) : status
  return sendJson(reply, code, JSON.stringify(rejectionBody(rejected.rejections, publicUrl)))
}

export function rejectionHeaders({ headers, retryAfterSeconds }: RejectedResponse): {
  [name: string]: string
} {
  return retryAfterSeconds === undefined
    ? { ...headers }
    : { ...headers, 'retry-after': `${retryAfterSeconds}` }
}

/** Builds the body of a rejection and turns the `doc` paths of the code catalogue into full addresses. */
export function rejectionBody(rejections: readonly Rejection[], publicUrl: string) {
  const linked = rejections.map((rejection) => ({ ...rejection, doc: `${publicUrl}${rejection.doc}` }))
  return { ...linked[0], rejections: linked }
}

// Calls between server replicas. These calls are not part of the public API and authenticate with the cluster key.

import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { HEAD_PROOF, type JudgeHead } from '../gateway/peers/cluster-proof.ts'

/** Handles one internal call; the handler itself verifies the caller's proof of the cluster key. */
export type InternalCall = (request: {
  readonly headers: { readonly authorization?: string | undefined }
  readonly path: string
  readonly body: string
}) => Promise<{ readonly status: number; readonly body: string }>

const BROKER_URL = '/internal/broker/:question'
export const INTERNAL_URLS: readonly string[] = ['/internal/nodes/:node/call', '/internal/view', BROKER_URL]

export interface InternalCalls {
  /** Handles calls to a node that is connected to this server replica, and the question after its view of the store. */
  readonly node: InternalCall
  /** Handles calls to the broker; absent if this process does not have the role broker. */
  readonly broker?: InternalCall
  /** Judges the head of a call before its body is read. */
  readonly judgeHead: JudgeHead
}

/** The most bytes of a body whose sender has proven nothing yet. */
export const UNPROVEN_BYTES = 64 * 1024
/** How long a sender who has proven nothing may take for the body. */
export const UNPROVEN_MS = 5_000

/** The status that refuses a call by its head; undefined if its body may be read. */
export function refuseHead(
  { judgeHead }: InternalCalls,
  { method, originalUrl: path, headers }: FastifyRequest,
): number | undefined {
  const { authorization = '', 'content-length': length } = headers
  const bytes = length === undefined ? Number.POSITIVE_INFINITY : Number(length)
  const verdict = judgeHead({ method, path, authorization, bytes }, single(headers[HEAD_PROOF]))
  if (verdict === 'refused') return 401
  return verdict === 'unproven' && bytes > UNPROVEN_BYTES ? 413 : undefined
}

const single = (value: string | string[] | undefined): string | undefined => [value].flat()[0]

/** Calls `end` if a request has not arrived completely in time. */
export function limitBodyTime(request: IncomingMessage, end: () => void): void {
  if (request.complete) return
  const timer = setTimeout(end, UNPROVEN_MS)
  request.once('end', () => clearTimeout(timer))
  request.once('close', () => clearTimeout(timer))
}

export function serveInternalCalls(app: FastifyInstance, { node, broker = noBroker }: InternalCalls): void {
  for (const url of INTERNAL_URLS) {
    const call = url === BROKER_URL ? broker : node
    app.post(url, async (request, reply) => {
      const body = Buffer.isBuffer(request.body) ? request.body.toString('utf8') : ''
      const response = await call({ headers: request.headers, path: request.originalUrl, body })
      return reply.code(response.status).header('content-type', 'application/json').send(response.body)
    })
  }
}

const noBroker: InternalCall = async () => ({ status: 404, body: '{}' })

// What one server replica asks another: outside of the public API and its tokens, proven by the key of the cluster.

import type { FastifyInstance } from 'fastify'

/** Checks the proof itself. */
export type InternalCall = (request: {
  readonly headers: { readonly authorization?: string | undefined }
  readonly path: string
  readonly body: string
}) => Promise<{ readonly status: number; readonly body: string }>

export const INTERNAL_CALL_URL = '/internal/nodes/:node/call'

export function serveInternalCalls(app: FastifyInstance, call: InternalCall): void {
  app.post(INTERNAL_CALL_URL, async (request, reply) => {
    const body = Buffer.isBuffer(request.body) ? request.body.toString('utf8') : ''
    const answer = await call({ headers: request.headers, path: request.originalUrl, body })
    return reply.code(answer.status).header('content-type', 'application/json').send(answer.body)
  })
}

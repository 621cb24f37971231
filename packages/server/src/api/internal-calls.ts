// What one server replica asks another: outside of the public API and its tokens, proven by the key of the cluster.

import type { FastifyInstance } from 'fastify'

/** Checks the proof itself. */
export type InternalCall = (request: {
  readonly headers: { readonly authorization?: string | undefined }
  readonly path: string
  readonly body: string
}) => Promise<{ readonly status: number; readonly body: string }>

const BROKER_URL = '/internal/broker/:question'
export const INTERNAL_URLS: readonly string[] = ['/internal/nodes/:node/call', BROKER_URL]

export interface InternalCalls {
  /** To a node whose socket is here. */
  readonly node: InternalCall
  /** Absent: this process reads no secret material. */
  readonly broker?: InternalCall
}

export function serveInternalCalls(app: FastifyInstance, { node, broker = noBroker }: InternalCalls): void {
  for (const url of INTERNAL_URLS) {
    const call = url === BROKER_URL ? broker : node
    app.post(url, async (request, reply) => {
      const body = Buffer.isBuffer(request.body) ? request.body.toString('utf8') : ''
      const answer = await call({ headers: request.headers, path: request.originalUrl, body })
      return reply.code(answer.status).header('content-type', 'application/json').send(answer.body)
    })
  }
}

const noBroker: InternalCall = async () => ({ status: 404, body: '{}' })

// Calls between server replicas. These calls are not part of the public API and authenticate with the cluster key.

import type { FastifyInstance } from 'fastify'

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

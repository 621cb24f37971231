// Logs and measures requests: one structured log line, one duration, one count per rejection code. Bodies, headers and the
// secret part of tokens are never logged.

import type { Rejection } from '@holdfast/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { ClientAddress } from '../net/client-address.ts'
import type { Caller } from '../operations/caller.ts'

export interface RequestMetrics {
  observeRequest(labels: { route: string; method: string; status: string }, seconds: number): void
  countRejection(code: string): void
}

export interface RequestObserver {
  rejected(request: FastifyRequest, rejections: readonly Rejection[]): void
  /** Adds fields to the log line of `request`. */
  annotate(request: FastifyRequest, notes: object): void
  completed(request: FastifyRequest, reply: FastifyReply, caller: Caller | undefined): void
  failed(request: FastifyRequest, error: Error): void
}

export function createRequestObserver(
  log: Logger,
  metrics: RequestMetrics,
  clientAddress: ClientAddress,
): RequestObserver {
  const notesOf = new WeakMap<FastifyRequest, object>()
  return {
    rejected(request, rejections) {
      const codes = rejections.map(({ code }) => code)
      notesOf.set(request, { codes })
      for (const code of codes) metrics.countRejection(code)
    },
    annotate: (request, notes) => void notesOf.set(request, notes),
    completed(request, reply, caller) {
      const route = request.routeOptions.url ?? '(none)'
      const ms = Math.round(reply.elapsedTime * 100) / 100
      metrics.observeRequest({ route, method: request.method, status: `${reply.statusCode}` }, ms / 1000)
      const identity = caller && { tenant: caller.tenant, token: caller.token, onBehalf: caller.onBehalf }
      const line = {
        requestId: request.id,
        method: request.method,
        route,
        status: reply.statusCode,
        ms,
        address: clientAddress(request),
        ...identity,
        ...notesOf.get(request),
      }
      log.info(line, 'request')
    },
    failed(request, error) {
      log.error(
        { requestId: request.id, route: request.routeOptions.url, error: error.name, stack: error.stack },
        'request failed',
      )
    },
  }
}

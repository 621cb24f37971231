// Logs and measures requests: one structured log line, one duration, one count per rejection code. Bodies, headers and the
// secret part of tokens are never logged.

import type { Code, Rejection } from '@holdfast/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import type { ClientAddress } from '../net/client-address.ts'
import type { Actor, AuditStream } from '../operations/events/audit-stream.ts'

export interface RequestMetrics {
  observeRequest(labels: { route: string; method: string; status: string }, seconds: number): void
  countRejection(code: string): void
}

/** The sender of a request and the action that it asked for, known once the credential was checked and the path was found. */
export interface Asked {
  readonly actor: Actor
  /** Absent if no endpoint has the path, and for a dry run. */
  readonly action?: string
}

export interface RequestObserver {
  rejected(request: FastifyRequest, rejections: readonly Rejection[]): void
  /** Adds fields to the log line of `request`. */
  annotate(request: FastifyRequest, notes: object): void
  completed(request: FastifyRequest, reply: FastifyReply, asked: Asked | undefined): void
  failed(request: FastifyRequest, error: Error): void
}

export function createRequestObserver(
  log: Logger,
  metrics: RequestMetrics,
  clientAddress: ClientAddress,
  audit: Pick<AuditStream, 'rejected'>,
): RequestObserver {
  const notesOf = new WeakMap<FastifyRequest, object>()
  const codesOf = new WeakMap<FastifyRequest, readonly Code[]>()
  return {
    rejected(request, rejections) {
      const codes = rejections.map(({ code }) => code)
      notesOf.set(request, { codes })
      codesOf.set(request, codes)
      for (const code of codes) metrics.countRejection(code)
    },
    annotate: (request, notes) => void notesOf.set(request, notes),
    completed(request, reply, asked) {
      const route = request.routeOptions.url ?? '(none)'
      const ms = Math.round(reply.elapsedTime * 100) / 100
      metrics.observeRequest({ route, method: request.method, status: `${reply.statusCode}` }, ms / 1000)
      const { actor, action } = asked ?? {}
      const identity = actor && { tenant: actor.tenant, token: actor.token, onBehalf: actor.onBehalf }
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
      const codes = codesOf.get(request)
      if (actor === undefined || action === undefined || codes === undefined || request.method === 'GET')
        return
      const target = Object.fromEntries(
        Object.entries(Object(request.params)).map(([name, text]) => [name, String(text)]),
      )
      audit.rejected({ requestId: request.id, actor, action, target, status: reply.statusCode, codes })
    },
    failed(request, error) {
      log.error(
        { requestId: request.id, route: request.routeOptions.url, error: error.name, stack: error.stack },
        'request failed',
      )
    },
  }
}

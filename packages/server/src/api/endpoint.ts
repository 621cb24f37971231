// What an endpoint is: one entry that drives routing, the role check, the query check, the OpenAPI document and the
// cross-tenant test. Its handler knows no HTTP beyond a status and an ETag.

import type { Code, Json, Shape } from '@holdfast/contract'
import type { Action } from '@holdfast/core'
import type { Caller, Outcome } from '../operations/caller.ts'
import type { ParsedQuery, QueryName } from './query-parameters.ts'

export interface ApiRequest {
  readonly caller: Caller
  readonly params: { readonly [name: string]: string }
  readonly query: ParsedQuery
  readonly body: Json
  readonly ifMatch?: string
  readonly idempotencyKey?: string
}

export interface Answer {
  readonly status: number
  /** A text is sent as it is, with its own type. */
  readonly body: object | string
  readonly type?: string
  /** What the log says of this answer beside its status: nothing that the redactor has not passed. */
  readonly notes?: object
  readonly etag?: string
}

export type RequestHeader = 'If-Match' | 'Idempotency-Key' | 'X-Tenant-ID'

export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With parameters in braces: `/api/v1/deployments/{name}`. */
  readonly path: string
  /** What the role table is asked. */
  readonly action: Action
  readonly summary: string
  readonly query: readonly QueryName[]
  readonly headers: readonly RequestHeader[]
  /** Absent: the request carries no body. */
  readonly body?: Shape<unknown>
  /** `type` where the answer is no JSON. */
  readonly success: { readonly status: number; readonly shape: Shape<unknown>; readonly type?: string }
  /** What `?dryRun=true` answers, with 200, where the endpoint takes it. */
  readonly dryRun?: Shape<unknown>
  /** The rejections it may answer beside those of every endpoint. */
  readonly codes: readonly Code[]
  handle(request: ApiRequest): Promise<Outcome<Answer>>
}

/** `{params.name}` of a matched route; the router has made sure that it is there. */
export function param(request: ApiRequest, name: string): string {
  return request.params[name] ?? ''
}

export const answer = (status: number, body: object, etag?: string): Outcome<Answer> => ({
  ok: true,
  value: { status, body, ...(etag === undefined ? {} : { etag }) },
})

/** An operation's outcome as an answer. */
export function answerWith<T>(outcome: Outcome<T>, toAnswer: (value: T) => Outcome<Answer>): Outcome<Answer> {
  return outcome.ok ? toAnswer(outcome.value) : outcome
}

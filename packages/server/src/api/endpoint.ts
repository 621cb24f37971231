// What an endpoint is: one entry that drives routing, the role check, the query check, the OpenAPI document and the
// cross-tenant test. Its handler knows no HTTP beyond a status and an ETag.

import type { Readable } from 'node:stream'
import type { Code, Json, Shape } from '@holdfast/contract'
import type { Action } from '@holdfast/core'
import type { Caller, Outcome } from '../operations/caller.ts'
import type { ParsedQuery, QueryName } from './request/query-parameters.ts'

export interface ApiRequest {
  readonly caller: Caller
  readonly params: { readonly [name: string]: string }
  readonly query: ParsedQuery
  readonly body: Json
  readonly ifMatch?: string
  readonly idempotencyKey?: string
  readonly lastEventId?: string
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

/**
 * An answer that goes on. It is piped, so the reader sets the pace; when the reader goes away the stream is destroyed,
 * and its `close` tells the author. How much may wait for a slow reader is the author's to bound.
 */
export interface StreamedAnswer {
  readonly status: number
  readonly type: string
  readonly stream: Readable
  /** Ends it in order after what was pushed: the server stops, or the token counts no more. May be called twice. */
  end(): void
  readonly notes?: object
}

export type RequestHeader = 'If-Match' | 'Idempotency-Key' | 'Last-Event-ID' | 'X-Tenant-ID'

/** Of no known caller: what it carries as its credential is in the body. */
export interface OpenRequest {
  readonly body: Json
  readonly address: string
  readonly requestId: string
}

/** What the router, the OpenAPI document and the tests know of an endpoint, whoever may call it. */
export interface DescribedEndpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With parameters in braces: `/api/v1/deployments/{name}`. */
  readonly path: string
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
}

export interface Endpoint extends DescribedEndpoint {
  /** What the role table is asked. */
  readonly action: Action
  /** Where SPEC 5 requires X-Tenant-ID beside the token: the code of a request without a UUID there. */
  readonly tenantRequired?: Code
  /** Its answer goes on: a token may have only so many of them open at a time. */
  readonly streams?: true
  handle(request: ApiRequest): Promise<Outcome<Answer | StreamedAnswer>>
}

/** Asked without a token. Nobody is known before the handler, so an address is all that can be limited. */
export interface OpenEndpoint extends DescribedEndpoint {
  /** The field of the body that holds the credential. */
  readonly credential: string
  /** After how many seconds this address may ask; 0: now. */
  waitSeconds(address: string): number
  handle(request: OpenRequest): Promise<Outcome<Answer>>
}

export type AnyEndpoint = Endpoint | OpenEndpoint

export const isOpen = (endpoint: AnyEndpoint): endpoint is OpenEndpoint => 'credential' in endpoint

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

// The endpoint table's entry type and builder. One entry drives routing, the role check, the query check, the OpenAPI
// document and the cross-tenant test. A handler knows no HTTP beyond a status and an ETag.

import type { Readable } from 'node:stream'
import { type Code, defined, type Json, pageShape, type Shape } from '@holdfast/contract'
import type { Action } from '@holdfast/core'
import type { Caller, Outcome } from '../operations/caller.ts'
import type { Page } from '../operations/page.ts'
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

export interface ApiResponse {
  readonly status: number
  /** A string is sent unchanged, with the given type. */
  readonly body: object | string
  readonly type?: string
  /** Added to the log line of the request. Contains only redacted values. */
  readonly notes?: object
  readonly etag?: string
}

/**
 * A response without a fixed end. It is piped, so the reader controls the speed; when the reader disconnects the stream
 * is destroyed. The producer limits how much waits for a slow reader.
 */
export interface StreamedResponse {
  readonly status: number
  readonly type: string
  readonly stream: Readable
  /** Ends the stream after the data pushed so far: the server stops, or the token is no longer valid. Idempotent. */
  end(): void
  readonly notes?: object
}

export type RequestHeader = 'If-Match' | 'Idempotency-Key' | 'Last-Event-ID' | 'X-Tenant-ID'

/** A request without a token; its credential is in the body or the query. */
export interface OpenRequest {
  readonly body: Json
  readonly address: string
  readonly requestId: string
}

/** The part of an endpoint that the router, the OpenAPI document and the tests use. */
export interface DescribedEndpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With parameters in braces: `/api/v1/deployments/{name}`. */
  readonly path: string
  readonly summary: string
  readonly query: readonly QueryName[]
  readonly headers: readonly RequestHeader[]
  /** Absent: the request has no body. */
  readonly body?: Shape<unknown>
  /** `type` is set if the response is not JSON. */
  readonly success: { readonly status: number; readonly shape: Shape<unknown>; readonly type?: string }
  /** The 200 response to `?dryRun=true`, if the endpoint supports it. */
  readonly dryRun?: Shape<unknown>
  /** The rejections it may return besides those common to all endpoints. */
  readonly codes: readonly Code[]
}

export interface Endpoint extends DescribedEndpoint {
  /** The action that the role table must allow. */
  readonly action: Action
  /** Set if the endpoint requires X-Tenant-ID: the code that rejects a request without a UUID there. */
  readonly tenantRequired?: Code
  /** The response is a stream; the number of open streams per token is limited. */
  readonly streams?: true
  handle(request: ApiRequest): Promise<Outcome<ApiResponse | StreamedResponse>>
}

/** Called without a token, so requests can only be limited by address. */
export interface OpenEndpoint extends DescribedEndpoint {
  /** The field or parameter that holds the credential. */
  readonly credential: string
  /** Seconds until this address may try again; 0: now. */
  waitSeconds(address: string): number
  handle(request: OpenRequest): Promise<Outcome<ApiResponse>>
}

export type AnyEndpoint = Endpoint | OpenEndpoint

export const isOpen = (endpoint: AnyEndpoint): endpoint is OpenEndpoint => 'credential' in endpoint

type Optional = 'query' | 'headers' | 'codes'

interface EndpointSpec
  extends Omit<Endpoint, 'method' | 'path' | 'success' | 'handle' | Optional>,
    Partial<Pick<Endpoint, Optional>> {
  readonly shape: Shape<unknown>
  /** 200 if absent. */
  readonly status?: number
  readonly type?: string
}

/** An endpoint that returns the value of one operation as JSON. */
interface OperationSpec<T extends object> extends EndpointSpec {
  run(request: ApiRequest): Outcome<T> | Promise<Outcome<T>>
  etag?(value: T): string
}

/** An endpoint that builds its response itself. */
type HandlerSpec = EndpointSpec & Pick<Endpoint, 'handle'>

export function endpoint<T extends object>(
  method: Endpoint['method'],
  path: string,
  spec: OperationSpec<T> | HandlerSpec,
): Endpoint {
  const { shape, status = 200, type, query = [], headers = [], codes = [], ...rest } = spec
  const success = { status, shape, ...defined({ type }) }
  const handle: Endpoint['handle'] =
    'handle' in spec
      ? spec.handle
      : async (request) =>
          respondWith(await spec.run(request), (value) => respond(status, value, spec.etag?.(value)))
  return { ...rest, method, path, query, headers, codes, success, handle }
}

/** A list in pages: `limit` and `cursor` in the query, `{items, nextCursor}` in the response. */
export function listEndpoint<T>(
  path: string,
  spec: Omit<OperationSpec<Page<T>>, 'shape' | 'query'> & { readonly item: Shape<unknown> },
): Endpoint {
  const { item, ...rest } = spec
  return endpoint('GET', path, { ...rest, shape: pageShape(item), query: ['limit', 'cursor'] })
}

/** The parameter `{name}` of a matched route. The router guarantees that it is present. */
export function param(request: ApiRequest, name: string): string {
  return request.params[name] ?? ''
}

export const respond = (status: number, body: object, etag?: string): Outcome<ApiResponse> => ({
  ok: true,
  value: { status, body, ...defined({ etag }) },
})

/** Turns the value of an operation into a response. A rejection stays as it is. */
export function respondWith<T>(
  outcome: Outcome<T>,
  toResponse: (value: T) => Outcome<ApiResponse>,
): Outcome<ApiResponse> {
  return outcome.ok ? toResponse(outcome.value) : outcome
}

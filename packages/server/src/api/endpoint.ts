// The type of an endpoint, and its builder. The list of endpoints drives routing, the role check, the query check, the
// OpenAPI document and the cross-tenant test. A handler knows no HTTP beyond a status and an ETag.

import type { Readable } from 'node:stream'
import { type Code, defined, type Json, pageShape, type Rejection, type Shape } from '@holdfast/contract'
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
  /** Counts the request as so many more against the rates of its caller. */
  charge(requests: number): void
}

export interface ApiResponse {
  readonly status: number
  /** Body of the response: an object is sent as JSON, a string unchanged with the given media type. */
  readonly body: object | string
  readonly type?: string
  /** Fields that are added to the log line of the request. They contain only redacted values. */
  readonly notes?: object
  readonly etag?: string
  readonly headers?: { readonly [name: string]: string }
}

/**
 * A response without a fixed end. The reader controls the speed, and the stream is destroyed when the reader disconnects.
 * The producer limits how much data waits for a slow reader.
 */
export interface StreamedResponse {
  readonly status: number
  readonly type: string
  readonly stream: Readable
  /** Ends the stream after the data pushed so far, when the server stops or the token is no longer valid. Idempotent. */
  end(): void
  readonly notes?: object
}

export type RequestHeader =
  | 'If-Match'
  | 'Idempotency-Key'
  | 'Last-Event-ID'
  | 'Sec-Fetch-Site'
  | 'X-Tenant-ID'

/** A request without an API token; the credential is in the body or the query. */
export interface OpenRequest {
  readonly body: Json
  readonly address: string
  readonly requestId: string
}

/** The part of an endpoint that the router, the OpenAPI document and the tests use. */
export interface DescribedEndpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path of the endpoint with parameters in braces: `/api/v1/deployments/{name}`. */
  readonly path: string
  /** Id of the operation in the OpenAPI document: a verb and a noun, from which generators make a function's name. */
  readonly operation: string
  readonly summary: string
  readonly query: readonly QueryName[]
  readonly headers: readonly RequestHeader[]
  /** Shape of the request body; absent if the request has no body. */
  readonly body?: Shape<unknown>
  /** Status and shape of the successful response; `type` is set if the response is not JSON. */
  readonly success: {
    readonly status: number
    readonly shape: Shape<unknown>
    readonly type?: string
    /** Shape of the response to `?view=summary`; absent if the endpoint has no short view. */
    readonly short?: Shape<unknown>
  }
  /** Shape of the 200 response to `?dryRun=true`; absent if the endpoint has no dry run. */
  readonly dryRun?: Shape<unknown>
  /** Codes of the rejections that the endpoint may return besides those common to all endpoints. */
  readonly codes: readonly Code[]
}

export interface Endpoint extends DescribedEndpoint {
  /** The action for which the caller's role must have permission. */
  readonly action: Action
  /**
   * Set if the endpoint requires X-Tenant-ID: the code that rejects a missing or empty header, and the one for a header
   * that is not a UUID, if it is not header_invalid.
   */
  readonly tenantRequired?: { readonly missing: Code; readonly malformed?: Code }
  /** Set if every request is rejected, after its role and query and before its body is read. */
  readonly refusal?: Rejection
  /** Set if the response is a stream; the number of open streams per token is limited. */
  readonly streams?: true
  handle(request: ApiRequest): Promise<Outcome<ApiResponse | StreamedResponse>>
}

/** An endpoint that is called without an API token, so its failed requests can only be limited by client address. */
export interface OpenEndpoint extends DescribedEndpoint {
  /** Name of the body field or query parameter that contains the credential. */
  readonly credential: string
  /** Set if only pages of this server may send the request, because the response sets a cookie. */
  readonly sameOrigin?: true
  handle(request: OpenRequest): Promise<Outcome<ApiResponse>>
}

export type AnyEndpoint = Endpoint | OpenEndpoint

export const isOpen = (endpoint: AnyEndpoint): endpoint is OpenEndpoint => 'credential' in endpoint

type Optional = 'query' | 'headers' | 'codes'

interface EndpointSpec
  extends Omit<Endpoint, 'method' | 'path' | 'success' | 'handle' | Optional>,
    Partial<Pick<Endpoint, Optional>> {
  readonly shape: Shape<unknown>
  readonly short?: Shape<unknown>
  /** HTTP status of the successful response; 200 if absent. */
  readonly status?: number
  readonly type?: string
}

/** An endpoint that returns the value of one operation as JSON. */
interface OperationSpec<T extends object> extends EndpointSpec {
  run(request: ApiRequest): Outcome<T> | Promise<Outcome<T>>
  etag?(value: T): string
}

/** An endpoint whose handler builds the response itself. */
type HandlerSpec = EndpointSpec & Pick<Endpoint, 'handle'>

export function endpoint<T extends object>(
  method: Endpoint['method'],
  path: string,
  spec: OperationSpec<T> | HandlerSpec,
): Endpoint {
  const { shape, short, status = 200, type, query = [], headers = [], codes = [], ...rest } = spec
  const success = { status, shape, ...defined({ type, short }) }
  const handle: Endpoint['handle'] =
    'handle' in spec
      ? spec.handle
      : async (request) =>
          respondWith(await spec.run(request), (value) => respond(status, value, spec.etag?.(value)))
  return { ...rest, method, path, query, headers, codes, success, handle }
}

/** Builds the endpoint of a list in pages: `limit` and `cursor` in the query, `{items, nextCursor}` in the response. */
export function listEndpoint<T>(
  path: string,
  spec: Omit<OperationSpec<Page<T>>, 'shape' | 'query'> & { readonly item: Shape<unknown> },
): Endpoint {
  const { item, ...rest } = spec
  return endpoint('GET', path, { ...rest, shape: pageShape(item), query: ['limit', 'cursor'] })
}

/** Returns the path parameter `name` of a matched route. The router guarantees that the parameter is present. */
export function param(request: ApiRequest, name: string): string {
  return request.params[name] ?? ''
}

export const respond = (status: number, body: object, etag?: string): Outcome<ApiResponse> => ({
  ok: true,
  value: { status, body, ...defined({ etag }) },
})

/** Turns the value of an operation into a response. A rejection passes unchanged. */
export function respondWith<T>(
  outcome: Outcome<T>,
  toResponse: (value: T) => Outcome<ApiResponse>,
): Outcome<ApiResponse> {
  return outcome.ok ? toResponse(outcome.value) : outcome
}

// An API request as data, and its conversion to a fetch call.

import { defined, type Json, jsonText } from '@holdfast/contract'
import type { Connection } from './connection.ts'

/**
 * When a request may be retried. `safe`: always, because it changes nothing or carries an Idempotency-Key. `refused`:
 * only after status 429, because after a lost response the write may have been applied.
 */
type Repeat = 'safe' | 'refused'

export interface ApiCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly query?: { readonly [name: string]: string | number | boolean | undefined }
  readonly body?: Json | undefined
  readonly ifMatch?: string | undefined
  /** The Idempotency-Key: generated once per call of the user, and sent again with every retry. */
  readonly idempotencyKey?: string | undefined
  readonly headers?: { readonly [name: string]: string }
  readonly repeat: Repeat
  readonly signal?: AbortSignal | undefined
}

/**
 * Encodes a path segment. `.` and `..` become `~`, which is never a valid name: URLs resolve both even if encoded, so the
 * request would address another resource.
 */
export function segment(text: string): string {
  return /^\.{0,2}$/.test(text) ? '~' : encodeURIComponent(text)
}

export function urlOf({ baseUrl }: Connection, { path, query = {} }: ApiCall): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  )
  return `${baseUrl}/api/v1${path}${given.length === 0 ? '' : `?${given.join('&')}`}`
}

export function initOf({ token, tenant }: Connection, call: ApiCall, signal: AbortSignal): RequestInit {
  const headers = {
    ...defined({
      authorization: token === undefined ? undefined : `Bearer ${token}`,
      'x-tenant-id': tenant,
      'content-type': call.body === undefined ? undefined : 'application/json',
      'if-match': call.ifMatch === undefined ? undefined : `"${call.ifMatch}"`,
      'idempotency-key': call.idempotencyKey,
    }),
    ...call.headers,
  }
  const body = call.body === undefined ? {} : { body: jsonText(call.body) }
  // Redirects are not followed, because a redirect would send the token to another server.
  return { method: call.method, headers, ...body, signal, redirect: 'error' }
}
